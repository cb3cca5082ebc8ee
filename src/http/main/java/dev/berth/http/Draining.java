package dev.berth.http;

import java.time.Duration;

/// What still works when its caller has been answered: a bean that a [Protocol] adds to Jetty's server,
/// which stops it after it has closed its connections.
public interface Draining {

    /// The server drains: what is new is refused from now on.
    void refuse();

    /// How long it may take to stop.
    Duration mostToStop();
}
