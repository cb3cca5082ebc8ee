package dev.berth.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.config.HttpConfig;
import dev.berth.config.ModelConfig;
import dev.berth.config.MonitoringConfig;
import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.Accelerator;
import dev.berth.http.Route;
import dev.berth.http.Routes;
import dev.berth.http.ServerParts;
import dev.berth.json.JsonText;
import io.javalin.http.Context;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;

/// The page at `/`, and what it is made of: files of the jar, the models that there are, and the
/// samples of their artifacts.
///
/// What the browser runs comes from this server alone, and nothing of it stands in the HTML: the
/// policy that goes with each answer forbids everything else.
final class Page {

    /// Of what `/page/{file}` serves, by the end of its name.
    private static final Map<String, String> TYPES = Map.of(
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml");

    /// Of the files.
    private static final String FOLDER = "/dev/berth/http/page/";

    private static final String HTML = "text/html; charset=utf-8";
    private static final String POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
                    + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final int LARGEST_SAMPLE = 4 << 20;

    private final ServerConfig config;
    private final List<Route> routes;
    private final Catalog catalog;

    Page(ServerParts parts) {
        this.config = parts.config();
        this.routes = Routes.of(config, parts.models().hasMany());
        this.catalog = new Catalog(parts.models(), config.get(ModelConfig.MODEL_DIR));
    }

    /// The page. Those who name types and not HTML among them get what clients of KServe's version 1
    /// take for a sign of life.
    void home(Context ctx) throws IOException {
        ctx.header("Vary", "Accept");
        var accept = ctx.header("Accept");
        if (accept == null || accept.contains("text/html")) {
            file(ctx, "page.html", HTML);
        } else {
            json(ctx, JsonNodeFactory.instance.objectNode().put("status", "alive"));
        }
    }

    void docs(Context ctx) throws IOException {
        file(ctx, "docs.html", HTML);
    }

    /// Describes the routes of the server, these ones too.
    void document(Context ctx) throws IOException {
        json(ctx, new OpenApi(config.get(HttpConfig.DEFAULT_ACCEPT), catalog).describe(root(ctx), routes));
    }

    /// Absolute, because clients that are made of the document know nothing of where it came from.
    private static String root(Context ctx) {
        return ctx.url().substring(0, ctx.url().length() - ctx.path().length());
    }

    void file(Context ctx) throws IOException {
        var name = ctx.pathParam("file");
        var type = name.matches("[a-z.-]+") ? TYPES.get(name.substring(name.lastIndexOf('.') + 1)) : null;
        if (type == null) {
            throw noSuch(ctx, "file");
        }
        file(ctx, name, type);
    }

    private static void file(Context ctx, String name, String type) throws IOException {
        try (var file = Page.class.getResourceAsStream(FOLDER + name)) {
            if (file == null) {
                throw noSuch(ctx, "file");
            }
            answer(ctx, file.readAllBytes(), type);
        }
    }

    private static ServingException noSuch(Context ctx, String what) {
        return ErrorType.NOT_FOUND.because("%s: there is no such %s".formatted(ctx.path(), what));
    }

    /// What the page has to know of the models.
    void models(Context ctx) {
        var page = JsonNodeFactory.instance
                .objectNode()
                .put("many", catalog.hasMany())
                .put("metrics", config.get(MonitoringConfig.METRICS_PATH))
                .put("defaultAccept", config.get(HttpConfig.DEFAULT_ACCEPT).toString());
        var models = page.putArray("models");
        catalog.list().forEach(entry -> models.add(describe(entry)));
        json(ctx, page);
    }

    private static ObjectNode describe(Catalog.Entry entry) {
        var model = JsonNodeFactory.instance
                .objectNode()
                .put("name", entry.name())
                .put("path", entry.path())
                .put("state", entry.state());
        entry.problem().ifPresent(problem -> model.put("problem", problem));
        entry.facts().ifPresent(facts -> {
            model.put("device", device(facts.accelerators()))
                    .put("workers", facts.accelerators().size());
            model.put("streams", facts.streams()).put("sessions", facts.sessions());
        });
        var readable = model.putArray("requestTypes");
        entry.requestTypes().forEach(type -> readable.add(type.toString()));
        var written = model.putArray("responseTypes");
        entry.responseTypes().forEach(type -> written.add(type.toString()));
        entry.sample()
                .ifPresent(sample -> model.putObject("sample")
                        .put("name", sample.file().getFileName().toString())
                        .put("type", sample.type(entry.requestTypes()).toString()));
        return model;
    }

    private static String device(List<Accelerator> accelerators) {
        var names = accelerators.stream().map(Accelerator::toString).distinct().toList();
        return names.size() < 4 ? String.join(", ", names) : "%s … %s".formatted(names.getFirst(), names.getLast());
    }

    void sample(Context ctx) throws IOException {
        var name = ctx.queryParam("model");
        var entry = catalog.find(name == null ? config.get(ModelConfig.NAME) : name)
                .orElseThrow(() -> noSuch(ctx, "model"));
        var sample = entry.sample().orElseThrow(() -> noSuch(ctx, "sample"));
        if (Files.size(sample.file()) > LARGEST_SAMPLE) {
            throw ErrorType.PAYLOAD_TOO_LARGE.because("%s: found %d bytes, expected at most %d"
                    .formatted(sample.file().getFileName(), Files.size(sample.file()), LARGEST_SAMPLE));
        }
        answer(
                ctx,
                Files.readAllBytes(sample.file()),
                sample.type(entry.requestTypes()).toString());
    }

    private static void json(Context ctx, JsonNode document) {
        answer(ctx, JsonText.bytes(document), "application/json");
    }

    private static void answer(Context ctx, byte[] body, String type) {
        ctx.header("Content-Security-Policy", POLICY)
                .header("X-Content-Type-Options", "nosniff")
                .header("Referrer-Policy", "no-referrer")
                .header("Cache-Control", "no-cache")
                .contentType(type)
                .result(body);
    }
}
