package dev.berth.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.error.ErrorType;
import dev.berth.hooks.MediaType;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.json.JsonText;
import dev.berth.metrics.ServingMetrics;
import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;

/// The OpenAPI 3.1 document of the routes that this server has, with the types and samples of the
/// models that it has loaded at the moment.
///
/// @param accept the type of answers where a client names none
record OpenApi(MediaType accept, Catalog catalog) {

    private static final String FRAME = "frame.json";
    private static final String ASKING = "asks.json";
    private static final String OF_PROTOCOL = "openapi.json";

    /// @param url where clients find the server
    JsonNode describe(String url, List<Route> routes) throws IOException {
        var said = said();
        var asking = read(OpenApi.class, ASKING);
        var document = read(OpenApi.class, FRAME);
        document.withObject("/info").put("version", ServingMetrics.version());
        document.withObject("/servers/0").put("url", url);
        var types = (ArrayNode) document.at("/components/schemas/Error/properties/type/enum");
        Arrays.stream(ErrorType.values())
                .map(type -> type.code().toLowerCase(Locale.ROOT))
                .distinct()
                .forEach(types::add);
        var paths = document.withObject("/paths");
        routes.stream()
                .sorted(Comparator.comparing(Route::path)
                        .thenComparing(route -> route.method().name()))
                .filter(route -> route.documented().where().test(catalog.facts()))
                .forEach(route -> {
                    var method = route.method().name();
                    if (said.get(method + " " + route.documented().path()) instanceof ObjectNode own) {
                        var name = method.toLowerCase(Locale.ROOT);
                        paths.withObjectProperty(route.path())
                                .set(name, new DocumentedRoute(own, asking, accept, catalog).at(name, route.path()));
                    }
                });
        return document;
    }

    /// What all protocols say of their routes, by method and path.
    private static ObjectNode said() throws IOException {
        var said = JsonNodeFactory.instance.objectNode();
        for (var protocol : ServiceLoader.load(Protocol.class, Protocol.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::type)
                .toList()) {
            said.setAll(read(protocol, OF_PROTOCOL));
        }
        return said;
    }

    /// A file beside a class; empty where it has none.
    private static ObjectNode read(Class<?> beside, String name) throws IOException {
        try (var file = beside.getResourceAsStream(name)) {
            return file == null
                    ? JsonNodeFactory.instance.objectNode()
                    : (ObjectNode) JsonText.read(file.readAllBytes());
        }
    }
}
