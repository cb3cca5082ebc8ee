package dev.berth.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.error.ErrorType;
import dev.berth.http.Described;
import dev.berth.metrics.ServingMetrics;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/// The OpenAPI 3.1 document of the routes that this server has, with the types and samples of the
/// models that it has loaded at the moment.
///
/// @param frame what every document has
record OpenApi(JsonNode frame) {

    /// @param url where clients find the server
    /// @param begun begins what is said of a route
    JsonNode describe(String url, List<? extends Described> routes, Supplier<DocumentedRoute> begun) {
        ObjectNode document = frame.deepCopy();
        document.withObject("/info").put("version", ServingMetrics.version());
        document.withObject("/servers/0").put("url", url);
        var types = (ArrayNode) document.at("/components/schemas/Error/properties/type/enum");
        Arrays.stream(ErrorType.values())
                .map(type -> type.code().toLowerCase(Locale.ROOT))
                .distinct()
                .forEach(types::add);
        var paths = document.withObject("/paths");
        routes.stream()
                .sorted(Comparator.comparing(Described::path)
                        .thenComparing(route -> route.method().name()))
                .forEach(route -> {
                    var said = begun.get();
                    route.says().apply(said);
                    if (said.isShown()) {
                        var method = route.method().name().toLowerCase(Locale.ROOT);
                        paths.withObjectProperty(route.path()).set(method, said.at(method, route.path()));
                    }
                });
        return document;
    }
}
