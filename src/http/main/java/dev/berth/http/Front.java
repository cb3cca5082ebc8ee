package dev.berth.http;

import java.time.Duration;
import org.eclipse.jetty.server.Handler;

/// What a protocol has in front of all routes of a server: it may answer a request itself, or hand
/// on another one. Runs on the thread of each request, behind the count of connections, and is
/// stopped after the server has closed its connections.
public abstract class Front extends Handler.Wrapper {

    /// The server drains: what is new is refused from now on.
    public abstract void refuse();

    /// How long it may take to stop.
    public abstract Duration mostToStop();
}
