/// The page at `/`, and `/openapi.json` with its viewer at `/docs`: for those who try a model at
/// their desk.
///
/// [dev.berth.page.Page] answers, [dev.berth.page.OpenApi] writes what routes take and answer. It
/// knows nothing of requests to models: the browser sends those to the same routes as any client.
/// Runs on the request's virtual thread.
package dev.berth.page;
