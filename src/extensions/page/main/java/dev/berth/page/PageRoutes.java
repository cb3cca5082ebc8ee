package dev.berth.page;

import static dev.berth.http.Route.get;

import dev.berth.config.ServerConfig;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import java.util.List;
import java.util.Optional;

/// The page's protocol: that of a browser.
public final class PageRoutes implements Protocol {

    @Override
    public List<Route> routes() {
        return List.of(
                get("/", parts -> new Page(parts)::home),
                get("/docs", parts -> new Page(parts)::docs),
                get("/openapi.json", parts -> new Page(parts)::document),
                get("/page/models", parts -> new Page(parts)::models),
                get("/page/sample", parts -> new Page(parts)::sample),
                get("/page/{file}", parts -> new Page(parts)::file));
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return config.get(PageConfig.PAGE);
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
