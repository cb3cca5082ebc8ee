/// What of a request's body comes in: how long it may be and take, how much of it lies in memory,
/// and what of it is inflated.
///
/// It knows Jetty's requests. It must not know routes, answers or Javalin. Each body is read by the
/// thread of its request, and by that of its hook when it is whole.
package dev.berth.http.body;
