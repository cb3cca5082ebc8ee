package dev.berth.page;

import static dev.berth.http.Route.get;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import java.util.List;
import java.util.Optional;

/// The page's protocol: that of a browser.
public final class PageRoutes implements Protocol {

    @Override
    public List<Route> routes() {
        return List.of(
                get(
                        "/",
                        o -> o.page("The page to try the model").answersIn("text/html"),
                        parts -> new Page(parts)::home),
                get(
                        "/docs",
                        o -> o.page("This document in Swagger UI").answersIn("text/html"),
                        parts -> new Page(parts)::docs),
                get("/openapi.json", o -> o.page("This document").answers("{}"), parts -> new Page(parts)::document),
                get(
                        "/page/models",
                        o -> o.page("What the page shows of the models")
                                .answers("{many: true, metrics: '', models: [{name: '', path: '', state: ''}]}"),
                        parts -> new Page(parts)::models),
                get(
                        "/page/sample",
                        o -> o.page("The sample of an artifact")
                                .answersIn("*/*")
                                .query("model", "string", "the name of one of many models")
                                .fails(ErrorType.NOT_FOUND, ErrorType.PAYLOAD_TOO_LARGE),
                        parts -> new Page(parts)::sample),
                get(
                        "/page/{file}",
                        o -> o.page("A file of the page").answersIn("*/*"),
                        parts -> new Page(parts)::file));
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return config.of(PageConfig.class).isOn();
    }

    @Override
    public Optional<String> announcement(String address) {
        return Optional.of("try it at %s/".formatted(address));
    }

    @Override
    public Claim claim() {
        return Claim.REQUESTS;
    }
}
