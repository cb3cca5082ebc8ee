package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.hooks.BadInputException;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The fields of a JSON object, such as the `parameters` of a request, read one by one. A field
/// that is null counts as left out, and one of a wrong type is refused by its name.
public final class Fields {

    private static final JsonNode NONE = JsonNodeFactory.instance.objectNode();

    /// How many characters of a name may be wrong for the right one to be named.
    private static final int SLIP = 4;

    private final JsonNode json;
    private final String prefix;

    private Fields(JsonNode json, String prefix) {
        this.json = json;
        this.prefix = prefix;
    }

    /// The fields of an object that has no others.
    ///
    /// @param name what messages call the object; the fields of a `body` have no name in front
    /// @param known the fields that are read
    /// @throws BadInputException when it is no object, or has other fields
    public static Fields of(JsonNode json, String name, Collection<String> known) {
        return of(json, name, known, NONE);
    }

    /// The same with fields that nobody reads.
    ///
    /// @param idle for each such field a list of the values that ask for nothing; empty: any value
    /// @throws BadInputException when it is no object, has other fields, or an idle one asks for
    ///   something
    public static Fields of(JsonNode json, String name, Collection<String> known, JsonNode idle) {
        var fields = any(json, name);
        for (var field : fields.json.properties()) {
            var values = idle.path(field.getKey());
            if (known.contains(field.getKey())) {
                continue;
            }
            if (values.isMissingNode()) {
                throw new BadInputException("%s: found the unknown %s %s, expected %s"
                        .formatted(
                                name,
                                name.equals("body") ? "field" : "parameter",
                                Excerpt.quoted(field.getKey()),
                                Slips.nearest(
                                                field.getKey(),
                                                Stream.concat(
                                                        known.stream(),
                                                        idle.propertyStream().map(Map.Entry::getKey)),
                                                Math.min(SLIP, field.getKey().length() / 3))
                                        .orElse(known.isEmpty() ? "none" : "one of " + String.join(", ", known))));
            }
            fields.value(
                    field.getKey(),
                    value -> values.isEmpty() || values.valueStream().anyMatch(idler -> same(idler, value)),
                    Function.identity(),
                    () -> values.valueStream().map(JsonNode::toString).collect(Collectors.joining(" or "))
                            + ", as this model supports nothing else");
        }
        return fields;
    }

    /// The same whatever fields there are besides. A missing node, or null, has none.
    public static Fields any(JsonNode json, String name) {
        if (!json.isObject() && !json.isNull() && !json.isMissingNode()) {
            throw Excerpt.bad(name, json, "an object");
        }
        return new Fields(
                json.isObject() ? json : NONE,
                name.endsWith("body") ? name.substring(0, name.length() - 4) : name + ".");
    }

    /// Reads the elements of a list, each by the name that messages have for it.
    ///
    /// @param name what messages call the list
    /// @throws BadInputException when it is no list, or an empty one
    public static <T> List<T> elements(
            JsonNode list, String name, String expected, BiFunction<JsonNode, String, T> read) {
        if (!list.isArray() || list.isEmpty()) {
            throw new BadInputException("%s: found %s, expected %s"
                    .formatted(name, list.isArray() ? "an empty list" : Excerpt.of(list), expected));
        }
        return each(list, name, read);
    }

    private static <T> List<T> each(JsonNode list, String name, BiFunction<JsonNode, String, T> read) {
        return IntStream.range(0, list.size())
                .mapToObj(i -> read.apply(list.path(i), "%s[%d]".formatted(name, i)))
                .toList();
    }

    private static boolean same(JsonNode one, JsonNode other) {
        return (one.isNumber() && other.isNumber()) ? one.doubleValue() == other.doubleValue() : one.equals(other);
    }

    /// Whether the field is there, be it null.
    public boolean has(String field) {
        return json.has(field);
    }

    /// What messages call a field: `parameters.top_k`.
    public String name(String field) {
        return prefix + field;
    }

    /// A field of any type; a missing node where it is left out.
    public JsonNode json(String field) {
        return json.path(field);
    }

    /// A text; empty where it is left out.
    public Optional<String> text(String field) {
        return value(field, JsonNode::isTextual, JsonNode::textValue, () -> "a text");
    }

    /// A text that must be there.
    public String requiredText(String field) {
        return text(field).orElseThrow(() -> bad(field, "a text"));
    }

    /// An object; one without fields where it is left out.
    public ObjectNode object(String field) {
        return value(field, JsonNode::isObject, ObjectNode.class::cast, () -> "an object")
                .orElseGet(JsonNodeFactory.instance::objectNode);
    }

    /// The elements of a list, which may be empty, by the names that messages have for them; none where
    /// it is left out.
    public <T> List<T> list(String field, BiFunction<JsonNode, String, T> read) {
        return value(field, JsonNode::isArray, list -> each(list, name(field), read), () -> "a list")
                .orElse(List.of());
    }

    /// A whole number within bounds.
    ///
    /// @param otherwise what it is where it is left out
    public int integer(String field, int least, int most, int otherwise) {
        return integer(field, least, most).map(Long::intValue).orElse(otherwise);
    }

    /// A whole number within bounds; empty where it is left out.
    ///
    /// @param most [Integer#MAX_VALUE]: there is no such bound to speak of
    public Optional<Long> integer(String field, long least, long most) {
        return value(
                field,
                value -> value.isIntegralNumber()
                        && value.canConvertToLong()
                        && value.longValue() >= least
                        && value.longValue() <= most,
                JsonNode::longValue,
                () -> "a whole number "
                        + (least == Long.MIN_VALUE
                                ? "of 64 bits"
                                : most == Integer.MAX_VALUE
                                        ? "of at least " + least
                                        : "from %d to %d".formatted(least, most)));
    }

    /// A number within bounds; empty where it is left out. Messages show as many digits of the bounds
    /// as they need: `a number from 0.5 to 1`.
    public Optional<Double> number(String field, double least, double most) {
        return value(
                field,
                value -> value.isNumber() && value.doubleValue() >= least && value.doubleValue() <= most,
                JsonNode::doubleValue,
                () -> "a number from %s to %s".formatted(digits(least), digits(most)));
    }

    private static String digits(double bound) {
        return BigDecimal.valueOf(bound).stripTrailingZeros().toPlainString();
    }

    /// True or false; empty where it is left out.
    public Optional<Boolean> bool(String field) {
        return value(field, JsonNode::isBoolean, JsonNode::booleanValue, () -> "true or false");
    }

    /// @param otherwise what it is where it is left out
    public boolean bool(String field, boolean otherwise) {
        return bool(field).orElse(otherwise);
    }

    /// One of some words, in lower case.
    public Optional<String> word(String field, List<String> words) {
        return value(
                field,
                value -> words.contains(lower(value)),
                Fields::lower,
                () -> "one of " + String.join(", ", words));
    }

    private static String lower(JsonNode value) {
        return value.asText().toLowerCase(Locale.ROOT);
    }

    /// A constant by its name in lower case.
    public <E extends Enum<E>> E choice(String field, E otherwise) {
        var type = otherwise.getDeclaringClass();
        var names = Stream.of(type.getEnumConstants())
                .map(choice -> choice.name().toLowerCase(Locale.ROOT))
                .toList();
        return word(field, names)
                .map(name -> Enum.valueOf(type, name.toUpperCase(Locale.ROOT)))
                .orElse(otherwise);
    }

    /// A text, as a list of one, or a list of texts; empty where it is left out.
    public Optional<List<String>> texts(String field) {
        return value(
                field,
                value -> value.isTextual() || value.isArray(),
                value -> value.isTextual() ? List.of(value.textValue()) : each(value, name(field), Fields::text),
                () -> "a text or a list of texts");
    }

    private static String text(JsonNode element, String name) {
        if (!element.isTextual()) {
            throw Excerpt.bad(name, element, "a text");
        }
        return element.textValue();
    }

    private <T> Optional<T> value(
            String field, Predicate<JsonNode> fits, Function<JsonNode, T> read, Supplier<String> expected) {
        var value = json.path(field);
        if (value.isMissingNode() || value.isNull()) {
            return Optional.empty();
        }
        if (!fits.test(value)) {
            throw bad(field, expected.get());
        }
        return Optional.of(read.apply(value));
    }

    /// What to throw where a field is not as expected.
    public BadInputException bad(String field, String expected) {
        return Excerpt.bad(name(field), json.path(field), expected);
    }
}
