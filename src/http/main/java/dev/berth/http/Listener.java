package dev.berth.http;

import dev.berth.http.connections.Connections;
import dev.berth.http.connections.PeerAwareConnector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Server;

/// A port, which has all routes.
///
/// @param protocol of its connections, for people
public record Listener(int port, String protocol, Speaking speaking) {

    /// That of the server's own.
    static final String HTTP = "HTTP/1.1";

    /// Runs once, when the server starts.
    public interface Speaking {
        PeerAwareConnector of(Server server, HttpConfiguration http, Connections connections);
    }
}
