/// The page at `/`, and `/openapi.json` with its viewer at `/docs`: for those who try a model at
/// their desk.
///
/// [dev.berth.http.page.Page] has the routes, [dev.berth.http.page.Operations] says what each route
/// of the server takes and answers. It knows nothing of requests to models: the browser sends those
/// to the same routes as any client. Runs on the request's virtual thread.
package dev.berth.http.page;
