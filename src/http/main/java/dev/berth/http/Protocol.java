package dev.berth.http;

import dev.berth.config.ServerConfig;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import java.util.List;
import java.util.Optional;

/// What clients speak with the server: paths, what is said there, and how failures are said.
///
/// [Routes] finds all that there are by `ServiceLoader`: a provider is a line in
/// `META-INF/services/dev.berth.http.Protocol`. Each is made once for all servers of the process,
/// and so has no state; what a server has of it is made by [Route#handler()] and [#configure]. All
/// but handlers run on the thread that starts a server. What they throw ends the start.
///
/// The smallest one has [#routes()] alone.
public interface Protocol {

    /// Who else may have the paths of a protocol.
    enum Claim {
        /// Nobody.
        ALL,
        /// Sockets, which may have any path that no request has.
        REQUESTS,
        /// Sockets, and settings that name a path.
        NONE
    }

    /// All routes that a server may have, whatever its settings. Two of the same method may match the
    /// same path; the first one answers.
    List<Route> routes();

    /// Routes whose paths the settings name. They take the place of others.
    default List<Route> named(ServerConfig config) {
        return List.of();
    }

    /// Whether a server has it.
    default boolean isOn(ServerConfig config) {
        return true;
    }

    default Claim claim() {
        return Claim.ALL;
    }

    /// How failures are said at a path, with a route or without; nothing where the path belongs to
    /// others. Asked whether it is on or not.
    default Optional<ErrorForm> errors(String path, ServerConfig config) {
        return Optional.empty();
    }

    /// The same for a request that says more than its path. Runs on the request's thread.
    default Optional<ErrorForm> errors(Context request, ServerConfig config) {
        return errors(request.path(), config);
    }

    /// A port of its own, beside the server's.
    default Optional<Listener> listener(ServerConfig config) {
        return Optional.empty();
    }

    /// What the log says of it when the model can be asked. Asked where it is on.
    ///
    /// @param address of the server, such as `http://localhost:8080`
    default Optional<String> announcement(String address) {
        return Optional.empty();
    }

    /// Adds what is no route, such as sockets, or what stands in front of all routes.
    default void configure(JavalinConfig javalin, ServerParts parts) {}
}
