package dev.berth.conformance;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/// The routes of multi-model endpoints. Each check loads what it needs and unloads it again.
final class ModelChecks {

    /// What the platform names a model: 64 hexadecimal digits; and what else a name may have.
    private static final String PLATFORM_NAME = "0123456789abcdef".repeat(4);

    private static final String ODD_NAME = "a-b_c.d e";

    private ModelChecks() {}

    static Map<String, Check> all() {
        return Map.ofEntries(
                Map.entry("PING-08", ModelChecks::noModel),
                Map.entry("MME-01", ModelChecks::load),
                Map.entry("MME-02", ModelChecks::twice),
                Map.entry("MME-04", ModelChecks::missingFields),
                Map.entry("MME-05", ModelChecks::noSuchUrl),
                Map.entry("MME-06", ModelChecks::list),
                Map.entry("MME-07", ModelChecks::pages),
                Map.entry("MME-08", ModelChecks::limits),
                Map.entry("MME-09", ModelChecks::describe),
                Map.entry("MME-10", ModelChecks::describeUnknown),
                Map.entry("MME-11", ModelChecks::invoke),
                Map.entry("MME-12", ModelChecks::invokeUnknown),
                Map.entry("MME-14", ModelChecks::unloadUnknown),
                Map.entry("MME-15", ModelChecks::again),
                Map.entry("MME-16", ModelChecks::together),
                Map.entry("MME-18", ModelChecks::names),
                Map.entry("MME-21", ModelChecks::singleModel));
    }

    private static String noModel(Container container) throws Exception {
        container.modelUrl();
        Check.expect(models(container.get("/models")).isEmpty(), "models are loaded already");
        Check.expect(container.get("/ping"), 200);
        return "200 without a model";
    }

    private static String load(Container container) throws Exception {
        return withModels(container, List.of("m1"), () -> {
            var answer = invoke(container, "m1");
            Check.expect(answer.isSuccess(), "200, but then /models/m1/invoke is " + answer.shown());
            return "200, and ready";
        });
    }

    private static String twice(Container container) throws Exception {
        return withModels(container, List.of("m1"), () -> {
            Check.expect(post(container, "m1", container.modelUrl()), 409);
            return "409";
        });
    }

    private static String missingFields(Container container) throws Exception {
        container.modelUrl();
        for (var fields : List.of("{\"model_name\":\"m1\"}", "{\"url\":" + Json.string(container.modelUrl()) + "}")) {
            Check.expect(
                    container.post(
                            "/models", fields.getBytes(StandardCharsets.UTF_8), "Content-Type", "application/json"),
                    400);
        }
        return "400, without the name and without the url";
    }

    private static String noSuchUrl(Container container) throws Exception {
        return withModels(container, List.of("m1"), () -> {
            var answer = post(container, "m2", "/no/such/directory");
            if (answer.isSuccess()) {
                unload(container, "m2");
            }
            Check.expect(answer, 404);
            return "404";
        });
    }

    private static String list(Container container) throws Exception {
        return withModels(container, List.of("m1"), () -> {
            var answer = container.get("/models");
            Check.expect(answer, 200);
            Check.expect(
                    models(answer).size() == 1 && describes(Json.at(answer.json(), "models", 0), container.modelUrl()),
                    answer.shown());
            Check.expect(Json.at(answer.json(), "nextPageToken") == null, "a nextPageToken on the last page");
            return "modelName and modelUrl, no nextPageToken";
        });
    }

    private static String pages(Container container) throws Exception {
        return withModels(container, List.of("m1", "m2", "m3"), () -> {
            var names = new ArrayList<Object>();
            int pages = 0;
            var query = "/models?limit=2";
            while (query != null && pages < 10) {
                var answer = container.get(query);
                models(answer).forEach(model -> names.add(Json.at(model, "modelName")));
                var token = Json.at(answer.json(), "nextPageToken");
                Check.expect(token == null || token instanceof String, "a token that is no string: " + token);
                query = token == null
                        ? null
                        : "/models?limit=2&next_page_token="
                                + URLEncoder.encode(token.toString(), StandardCharsets.UTF_8);
                pages++;
            }
            Check.expect(
                    names.size() == 3 && new HashSet<>(names).equals(new HashSet<>(List.of("m1", "m2", "m3"))),
                    "listed " + names);
            return pages + " pages, each of 3 models once";
        });
    }

    private static String limits(Container container) throws Exception {
        return withModels(container, List.of("m1", "m2", "m3"), () -> {
            var two = container.get("/models?limit=2");
            Check.expect(two.status() == 200 && models(two).size() == 2, "limit=2: " + two.shown());
            Check.expect(container.get("/models?limit=1000"), 200);
            var x = container.get("/models?limit=x");
            Check.expect(x, 200, 400);
            return "limit=2: 2 models, limit=1000: 200, limit=x: " + x.status();
        });
    }

    private static String describe(Container container) throws Exception {
        return withModels(container, List.of("m1"), () -> {
            var answer = container.get("/models/m1");
            Check.expect(answer, 200);
            Check.expect(describes(answer.json(), container.modelUrl()), answer.shown());
            return "200 with modelName and modelUrl";
        });
    }

    private static String invoke(Container container) throws Exception {
        return withModels(container, List.of("m1"), () -> {
            var answer = container.post(
                    "/models/m1/invoke",
                    container.givenBody(),
                    "Content-Type",
                    container.type(),
                    "Accept",
                    "*/*",
                    "X-Amzn-SageMaker-Custom-Attributes",
                    "a=1",
                    "X-Amzn-SageMaker-Target-Model",
                    "m1.tar.gz");
            Check.expect(answer.isSuccess(), answer.shown());
            return answer.status() + " " + answer.header("Content-Type");
        });
    }

    // A container that has none of these routes answers 404 too, so each is asked beside a model that
    // is there.

    private static String describeUnknown(Container container) throws Exception {
        return withModels(container, List.of("m1"), () -> {
            Check.expect(container.get("/models/m1"), 200);
            Check.expect(container.get("/models/nope"), 404);
            return "404";
        });
    }

    private static String invokeUnknown(Container container) throws Exception {
        return withModels(container, List.of("m1"), () -> {
            var known = invoke(container, "m1");
            Check.expect(known.isSuccess(), "/models/m1/invoke is " + known.shown());
            Check.expect(invoke(container, "nope"), 404);
            return "404";
        });
    }

    private static String unloadUnknown(Container container) throws Exception {
        return withModels(container, List.of("m1"), () -> {
            Check.expect(container.send(Request.delete("/models/nope")), 404);
            Check.expect(container.send(Request.delete("/models/m1")), 200);
            return "404";
        });
    }

    private static String again(Container container) throws Exception {
        withModels(container, List.of("m1"), () -> "");
        return withModels(container, List.of("m1"), () -> "200, 200, 200");
    }

    private static String together(Container container) throws Exception {
        var request = loads("m1", container.modelUrl());
        var one = container.sendAsync(request);
        var other = container.sendAsync(request);
        var statuses = new int[] {one.get().status(), other.get().status()};
        Arrays.sort(statuses);
        unload(container, "m1");
        Check.expect(Arrays.equals(statuses, new int[] {200, 409}), "statuses " + Arrays.toString(statuses));
        return "200 and 409";
    }

    private static String names(Container container) throws Exception {
        return withModels(container, List.of(PLATFORM_NAME, ODD_NAME), () -> {
            for (var name : List.of(PLATFORM_NAME, ODD_NAME)) {
                var answer = invoke(container, name);
                Check.expect(answer.isSuccess(), name + ": " + answer.shown());
            }
            return "64 digits, and \"" + ODD_NAME + "\"";
        });
    }

    private static String singleModel(Container container) throws Exception {
        if (container.hasModelUrl()) {
            throw new Check.NotAsked("it has many models, as --model-url says");
        }
        var answer = container.get("/models");
        Check.expect(answer.status() < 500, answer.shown());
        return String.valueOf(answer.status());
    }

    /// @return what `then` says, with all models loaded before and unloaded after it
    private static String withModels(Container container, List<String> names, Step then) throws Exception {
        var url = container.modelUrl();
        container.givenBody();
        String found;
        try {
            for (var name : names) {
                var answer = post(container, name, url);
                Check.expect(answer.status() == 200, "POST /models: " + answer.shown());
            }
            found = then.run();
        } catch (Exception e) {
            // Why the row is missed says more than what happens to its models then.
            for (var name : names) {
                try {
                    unload(container, name);
                } catch (IOException | Check.Missed also) {
                    e.addSuppressed(also);
                }
            }
            throw e;
        }
        for (var name : names) {
            unload(container, name);
        }
        return found;
    }

    private interface Step {
        String run() throws Exception;
    }

    private static Answer post(Container container, String name, String url) throws Exception {
        return container.send(loads(name, url));
    }

    private static Request loads(String name, String url) {
        return Request.post(
                "/models", named(name, url).getBytes(StandardCharsets.UTF_8), "Content-Type", "application/json");
    }

    private static String named(String name, String url) {
        return "{\"model_name\":%s,\"url\":%s}".formatted(Json.string(name), Json.string(url));
    }

    private static List<?> models(Answer answer) throws Check.Missed {
        return Json.at(answer.json(), "models") instanceof List<?> models ? models : List.of();
    }

    private static boolean describes(Object model, String url) {
        return "m1".equals(Json.at(model, "modelName")) && url.equals(Json.at(model, "modelUrl"));
    }

    private static Answer invoke(Container container, String name) throws Exception {
        return container.post(path(name) + "/invoke", container.givenBody(), "Content-Type", container.type());
    }

    private static void unload(Container container, String name) throws Exception {
        var answer = container.send(Request.delete(path(name)));
        Check.expect(answer.status() == 200 || answer.status() == 404, "DELETE: " + answer.shown());
    }

    private static String path(String name) {
        return "/models/" + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
