/// The connections below HTTP: Jetty's connectors, TLS, how many connections there may be, which one
/// makes way for another, and how fast they are read.
///
/// It knows of requests when they begin, wait for their client and end. It must not know what they
/// ask for, nor Javalin. Jetty's threads run it, and those of requests.
package dev.berth.http.connections;
