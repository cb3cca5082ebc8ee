package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// What CloudWatch's specification of the Embedded Metric Format asks of a document, as far as a
/// server can break it.
public final class EmfRules {

    private static final JsonMapper JSON = new JsonMapper();
    private static final int MOST_BYTES = 1 << 20;
    private static final Set<String> UNITS = Set.of("Seconds", "Count", "Bytes", "Milliseconds", "Percent", "None");

    private EmfRules() {}

    /// @return the names of its metrics
    public static List<String> check(String line) throws Exception {
        assertThat(line.getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(MOST_BYTES);
        var root = JSON.readTree(line);
        assertThat(root.isObject()).isTrue();
        var aws = root.get("_aws");
        assertThat(aws.get("Timestamp").isIntegralNumber()).isTrue();
        var names = new HashSet<String>();
        for (var directive : aws.get("CloudWatchMetrics")) {
            assertThat(directive.get("Namespace").asText())
                    .matches("[!-9;-~][!-~]{0,254}")
                    .doesNotStartWith("AWS/");
            assertThat(directive.get("Dimensions").size()).isPositive();
            for (var set : directive.get("Dimensions")) {
                assertThat(set.isArray()).isTrue();
                assertThat(set.size()).isLessThanOrEqualTo(30);
                set.forEach(name -> checkDimension(name.asText(), root));
            }
            assertThat(directive.get("Metrics").size()).isBetween(1, 100);
            for (var metric : directive.get("Metrics")) {
                var name = metric.get("Name").asText();
                assertThat(name).matches("[ -~]{1,1024}");
                assertThat(names.add(name)).as("%s is there twice", name).isTrue();
                assertThat(UNITS).contains(metric.get("Unit").asText());
                checkValue(name, root.get(name));
            }
        }
        return List.copyOf(names);
    }

    private static void checkDimension(String name, JsonNode root) {
        assertThat(name).matches("[!-9;-~][!-~]{0,254}");
        assertThat(root.path(name).isTextual()).as(name).isTrue();
        assertThat(root.get(name).asText()).as(name).isNotBlank().matches("[ -~]{1,1024}");
    }

    /// A number, or what AWS's own libraries write for a histogram.
    private static void checkValue(String name, JsonNode value) {
        assertThat(value).as(name).isNotNull();
        if (value.isNumber()) {
            assertThat(value.asDouble()).as(name).isFinite();
            return;
        }
        assertThat(value.get("Values").size())
                .as(name)
                .isBetween(1, 100)
                .isEqualTo(value.get("Counts").size());
        double count = 0;
        for (int i = 0; i < value.get("Values").size(); i++) {
            assertThat(value.get("Values").get(i).isNumber()).as(name).isTrue();
            assertThat(value.get("Values").get(i).asDouble())
                    .as(name)
                    .isBetween(value.get("Min").asDouble(), value.get("Max").asDouble());
            assertThat(value.get("Counts").get(i).asDouble()).as(name).isPositive();
            count += value.get("Counts").get(i).asDouble();
        }
        assertThat(value.get("Count").asDouble()).as(name).isEqualTo(count);
        assertThat(value.get("Sum").asDouble()).as(name).isNotNegative();
    }
}
