/// The paths of OpenAI's API. What stands in bodies is `dev.berth.openai`'s, for hooks and
/// handlers. Runs on the request's virtual thread.
package dev.berth.openai.paths;
