package dev.berth.bench;

import io.javalin.Javalin;

/// The least that a Javalin server can do: a constant for every request, with all settings as they come.
///
///     java ConstantServer PORT
final class ConstantServer {

    private ConstantServer() {}

    static void main(String[] arguments) {
        Javalin.create(javalin -> {
                    javalin.startup.showJavalinBanner = false;
                    javalin.startup.showOldJavalinVersionWarning = false;
                    javalin.routes.post(
                            "/invocations",
                            ctx -> ctx.contentType("application/json").result("{}"));
                })
                .start(Integer.parseInt(arguments[0]));
    }
}
