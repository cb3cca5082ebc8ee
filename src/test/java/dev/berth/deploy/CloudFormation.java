package dev.berth.deploy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.AbstractConstruct;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/// A template of CloudFormation for given parameters: its intrinsic functions are done, and its
/// resources are compared with AWS's schemas.
///
/// What a template asks for and is not there, such as a condition, a resource or an attribute, is
/// an [IllegalArgumentException].
final class CloudFormation {

    static final ObjectMapper JSON = new ObjectMapper();

    private static final Path SCHEMAS = Path.of("src/test/resources/cloudformation/resource-schemas.json");
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^}]+)}");
    private static final Object NO_VALUE = new Object();

    private final Map<String, Object> template;
    private final Map<String, Object> parameters = new TreeMap<>();
    private final JsonNode schemas;

    CloudFormation(Map<String, Object> template, Map<String, String> given) throws IOException {
        this.template = template;
        this.schemas = JSON.readTree(SCHEMAS.toFile()).path("resources");
        section("Parameters").forEach((name, value) -> {
            var parameter = map(value);
            var byDefault = Objects.toString(parameter.get("Default"), null);
            var text = Objects.requireNonNull(given.getOrDefault(name, byDefault), name);
            parameters.put(
                    name,
                    switch (parameter.get("Type").toString()) {
                        case "Number" -> Long.valueOf(text);
                        case "CommaDelimitedList" -> List.of(text.split(","));
                        default -> text;
                    });
        });
        for (var name : given.keySet()) {
            known(parameters.containsKey(name), "parameter", name);
        }
    }

    /// Reads a template with the short forms of functions, such as `!Ref`.
    static Map<String, Object> read(Path file) throws IOException {
        var options = new LoaderOptions();
        // CloudFormation knows no aliases.
        options.setMaxAliasesForCollections(0);
        options.setAllowDuplicateKeys(false);
        return map(new Yaml(new WithShortForms(options)).load(Files.readString(file)));
    }

    /// The resources whose conditions hold, resolved, by their logical ids.
    Map<String, Map<String, Object>> resources() {
        var resources = new LinkedHashMap<String, Map<String, Object>>();
        section("Resources").forEach((id, value) -> {
            if (isThere(id)) {
                resources.put(id, map(resolve(value)));
            }
        });
        resolve(template.getOrDefault("Outputs", Map.of()));
        return resources;
    }

    /// What the template's own rules find wrong with the parameters, and AWS's schemas with the
    /// resources.
    List<String> problems() throws IOException {
        var problems = new ArrayList<>(refusals());
        for (var resource : resources().entrySet()) {
            var type = resource.getValue().get("Type").toString();
            known(schemas.has(type), "resource type", type);
            var schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                    .getSchema(schemas.path(type).path("schema").toString(), InputFormat.JSON);
            var properties = JSON.writeValueAsString(resource.getValue().getOrDefault("Properties", Map.of()));
            schema.validate(properties, InputFormat.JSON).stream()
                    .map(Error::toString)
                    .forEach(problem -> problems.add(resource.getKey() + problem));
        }
        return problems;
    }

    private List<String> refusals() {
        var refusals = new ArrayList<String>();
        section("Rules").values().stream()
                .map(CloudFormation::map)
                .filter(rule -> (Boolean) resolve(rule.get("RuleCondition")))
                .flatMap(rule -> ((List<?>) rule.get("Assertions")).stream().map(CloudFormation::map))
                .filter(assertion -> !(Boolean) resolve(assertion.get("Assert")))
                .forEach(assertion ->
                        refusals.add(assertion.get("AssertDescription").toString()));
        return refusals;
    }

    private boolean condition(String name) {
        var conditions = section("Conditions");
        known(conditions.containsKey(name), "condition", name);
        return (Boolean) resolve(conditions.get(name));
    }

    private boolean isThere(String id) {
        var resource = map(section("Resources").get(id));
        return !resource.containsKey("Condition")
                || condition(resource.get("Condition").toString());
    }

    private Object resolve(Object value) {
        return switch (value) {
            case Map<?, ?> mapping
            when mapping.size() == 1 -> {
                var entry = map(mapping).entrySet().iterator().next();
                yield function(entry.getKey(), entry.getValue(), mapping);
            }
            case Map<?, ?> mapping -> entries(mapping);
            case List<?> list ->
                list.stream()
                        .map(this::resolve)
                        .filter(item -> item != NO_VALUE)
                        .toList();
            default -> value;
        };
    }

    private Map<String, Object> entries(Map<?, ?> mapping) {
        var resolved = new LinkedHashMap<String, Object>();
        map(mapping).forEach((key, value) -> {
            var property = resolve(value);
            if (property != NO_VALUE) {
                resolved.put(key, property);
            }
        });
        return resolved;
    }

    private Object function(String name, Object argument, Map<?, ?> mapping) {
        return switch (name) {
            case "Ref" -> reference(argument.toString());
            case "Condition" -> condition(argument.toString());
            case "Fn::GetAtt" -> attribute(argument.toString());
            case "Fn::Sub" -> substitute(argument);
            case "Fn::If" -> {
                var choice = (List<?>) argument;
                yield resolve(choice.get(condition(choice.get(0).toString()) ? 1 : 2));
            }
            case "Fn::Equals" ->
                resolved(argument).stream().map(Object::toString).distinct().count() == 1;
            case "Fn::EachMemberEquals" ->
                strings(resolved(argument).get(0)).stream()
                        .allMatch(resolved(argument).get(1)::equals);
            case "Fn::Not" -> !(Boolean) resolved(argument).get(0);
            case "Fn::And" -> resolved(argument).stream().allMatch(Boolean.TRUE::equals);
            case "Fn::Or" -> resolved(argument).stream().anyMatch(Boolean.TRUE::equals);
            case "Fn::Join" ->
                String.join(
                        resolved(argument).get(0).toString(),
                        strings(resolved(argument).get(1)));
            case "Fn::Select" ->
                strings(resolved(argument).get(1))
                        .get((Integer) resolved(argument).get(0));
            case "Fn::Split" -> {
                var parts = resolved(argument);
                yield List.of(
                        parts.get(1).toString().split(Pattern.quote(parts.get(0).toString())));
            }
            default -> {
                known(!name.startsWith("Fn::"), "function", name);
                yield entries(mapping);
            }
        };
    }

    private Object reference(String name) {
        return switch (name) {
            case "AWS::NoValue" -> NO_VALUE;
            case "AWS::AccountId" -> "123456789012";
            case "AWS::Partition" -> "aws";
            case "AWS::Region" -> "eu-west-1";
            case "AWS::StackName" -> "berth-qa";
            case "AWS::URLSuffix" -> "amazonaws.com";
            default -> parameters.containsKey(name) ? parameters.get(name) : resource(name);
        };
    }

    private String resource(String id) {
        known(section("Resources").containsKey(id), "parameter or resource", id);
        known(isThere(id), "resource of these parameters", id);
        return id;
    }

    private String attribute(String reference) {
        var parts = reference.split("\\.", 2);
        var type = map(section("Resources").get(resource(parts[0]))).get("Type").toString();
        var attributes = schemas.path(type).path("attributes");
        known(JSON.convertValue(attributes, List.class).contains(parts[1]), "attribute of " + type, parts[1]);
        return parts[1].endsWith("Arn") ? "arn:aws:service:eu-west-1:123456789012:" + reference : reference;
    }

    private String substitute(Object argument) {
        var parts = argument instanceof List<?> list ? list : List.of(argument, Map.of());
        return VARIABLE.matcher(parts.get(0).toString())
                .replaceAll(match -> Matcher.quoteReplacement(variable(match, map(parts.get(1)))));
    }

    private String variable(MatchResult match, Map<String, Object> variables) {
        var name = match.group(1);
        if (variables.containsKey(name)) {
            return resolve(variables.get(name)).toString();
        }
        return name.contains(".") ? attribute(name) : reference(name).toString();
    }

    private List<?> resolved(Object argument) {
        return (List<?>) resolve(argument);
    }

    private static List<String> strings(Object list) {
        return ((List<?>) list).stream().map(Object::toString).toList();
    }

    private Map<String, Object> section(String name) {
        return map(template.getOrDefault(name, Map.of()));
    }

    private static void known(boolean known, String what, String name) {
        if (!known) {
            throw new IllegalArgumentException("found no %s named %s".formatted(what, name));
        }
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Object value) {
        return (Map<String, Object>) value;
    }

    private static final class WithShortForms extends SafeConstructor {

        WithShortForms(LoaderOptions options) {
            super(options);
            yamlMultiConstructors.put("!", new AbstractConstruct() {
                @Override
                public Object construct(Node node) {
                    var name = node.getTag().getValue().substring(1);
                    return Map.of(
                            name.equals("Ref") || name.equals("Condition") ? name : "Fn::" + name, argument(node));
                }
            });
        }

        private Object argument(Node node) {
            return switch (node) {
                case ScalarNode scalar -> scalar.getValue();
                case SequenceNode sequence -> constructSequence(sequence);
                case MappingNode mapping -> constructMapping(mapping);
                default -> throw new IllegalArgumentException("found " + node.getTag());
            };
        }
    }
}
