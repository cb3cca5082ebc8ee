/// WebSockets: the handshake, and each connection, whose messages are requests. Jetty's threads
/// gather messages, and virtual threads answer them.
package dev.berth.sockets;
