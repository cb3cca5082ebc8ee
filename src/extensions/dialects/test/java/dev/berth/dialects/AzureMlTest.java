package dev.berth.dialects;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.config.Configuration;
import dev.berth.config.HttpConfig;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// What `deploy/azure-ml` tells Azure ML is what the server has.
class AzureMlTest {

    private static final Path DEPLOYMENT = Path.of("deploy/azure-ml/deployment.yml");
    private static final Pattern ROUTE = Pattern.compile("(\\w+)_route:\\n +port: (\\d+)\\n +path: (\\S+)");
    private static final Pattern VARIABLES = Pattern.compile("environment_variables:\\n((?:  .*\\n)+)");

    @Test
    void itsRoutesAreThoseOfTheServer() throws Exception {
        var deployment = Files.readString(DEPLOYMENT);
        var routes = ROUTE.matcher(deployment)
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> found.group(3)));
        assertThat(routes).containsOnlyKeys("liveness", "readiness", "scoring");
        var port = Configuration.read(Map.of(), Map.of(), Path.of("").toAbsolutePath())
                .config()
                .get(HttpConfig.PORT);
        assertThat(ROUTE.matcher(deployment).results().map(found -> found.group(2)))
                .containsOnly(String.valueOf(port));
        try (var server = TestServer.sample().start()) {
            assertThat(server.get(routes.get("liveness")).statusCode()).isEqualTo(200);
            assertThat(server.get(routes.get("readiness")).statusCode()).isEqualTo(200);
            var sample = Files.readString(Path.of("model-artifact/sample.json"));
            assertThat(server.post(routes.get("scoring"), sample).statusCode()).isEqualTo(200);
        }
    }

    @Test
    void itsVariablesAreSettingsAndItsModelIsAnArtifact() throws Exception {
        var deployment = Files.readString(DEPLOYMENT);
        var block = VARIABLES.matcher(deployment);
        assertThat(block.find()).isTrue();
        var variables = new HashMap<String, String>();
        block.group(1)
                .lines()
                .map(line -> line.strip().split(": ", 2))
                .forEach(pair -> variables.put(pair[0], pair[1].replace("\"", "")));
        var model = DEPLOYMENT.getParent().resolve(value(deployment, "  path")).normalize();
        assertThat(model.resolve("model.json")).exists();
        assertThat(variables.get("BERTH_MODEL_DIR"))
                .isEqualTo(value(deployment, "model_mount_path") + "/" + model.getFileName());
        variables.put("BERTH_MODEL_DIR", model.toString());
        // Reading fails where there is no such setting.
        assertThat(Configuration.read(variables, Map.of(), Path.of("")).warnings())
                .isEmpty();
    }

    private static String value(String yaml, String key) {
        return yaml.lines()
                .filter(line -> line.startsWith(key + ": "))
                .findFirst()
                .orElseThrow()
                .substring(key.length() + 2);
    }
}
