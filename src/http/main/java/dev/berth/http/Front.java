package dev.berth.http;

import java.time.Duration;
import org.eclipse.jetty.server.Handler;

/// What a protocol has in front of all routes of a server: it may answer a request itself, or hand
/// on another one.
public interface Front {

    /// Asked once. Runs on the thread of each request, behind the count of connections.
    Handler.Wrapper handler();

    /// The server drains: what is new is refused from now on.
    void refuse();

    /// How long it may take to close.
    Duration mostToClose();

    /// Runs after the server has closed its connections.
    void close() throws InterruptedException;
}
