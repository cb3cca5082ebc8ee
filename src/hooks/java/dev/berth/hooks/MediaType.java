package dev.berth.hooks;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// A media type such as `text/csv; header=present` (RFC 9110 §8.3.1). `*` stands for any type or
/// subtype, as in `Accept`.
///
/// Type, subtype and parameter names are held in lower case; parameters keep their order.
public record MediaType(String type, String subtype, Map<String, String> parameters) {

    public static final MediaType ANY = of("*", "*");
    public static final MediaType JSON = of("application", "json");
    public static final MediaType JSON_LINES = of("application", "jsonlines");
    public static final MediaType CSV = of("text", "csv");
    public static final MediaType TEXT = of("text", "plain");

    /// Server-sent events (WHATWG HTML §9.2).
    public static final MediaType EVENT_STREAM = of("text", "event-stream");

    /// Bytes of any kind.
    public static final MediaType BYTES = of("application", "octet-stream");

    /// A NumPy array.
    public static final MediaType NPY = of("application", "x-npy");

    /// Several NumPy arrays by name.
    public static final MediaType NPZ = of("application", "x-npz");

    /// An image of any kind, in SageMaker's own examples.
    public static final MediaType IMAGE = of("application", "x-image");

    /// SageMaker's own limit for `Content-Type` and `Accept`.
    private static final int MAX_LENGTH = 1024;

    private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
    private static final String PARAMETER =
            "[ \\t]*;[ \\t]*(?:(" + TOKEN + ")=(?:(" + TOKEN + ")|\"((?:[^\"\\\\]|\\\\.)*+)\"))?";
    private static final Pattern TYPE = Pattern.compile("(" + TOKEN + ")/(" + TOKEN + ")");
    private static final Pattern PARAMETERS = Pattern.compile(PARAMETER);

    public MediaType {
        type = type.toLowerCase(Locale.ROOT);
        subtype = subtype.toLowerCase(Locale.ROOT);
        var lowered = new LinkedHashMap<String, String>();
        parameters.forEach((name, value) -> lowered.putIfAbsent(name.toLowerCase(Locale.ROOT), value));
        parameters = Collections.unmodifiableMap(lowered);
    }

    public static MediaType of(String type, String subtype) {
        return new MediaType(type, subtype, Map.of());
    }

    /// Reads one media type; nothing where the text is not one.
    public static Optional<MediaType> parse(String text) {
        var trimmed = text.strip();
        if (trimmed.length() > MAX_LENGTH) {
            return Optional.empty();
        }
        var name = TYPE.matcher(trimmed);
        if (!name.lookingAt()) {
            return Optional.empty();
        }
        var parameters = new LinkedHashMap<String, String>();
        var rest = PARAMETERS.matcher(trimmed).region(name.end(), trimmed.length());
        var end = name.end();
        while (end < trimmed.length()) {
            if (!rest.lookingAt()) {
                return Optional.empty();
            }
            if (rest.group(1) != null) {
                var value =
                        rest.group(2) != null ? rest.group(2) : rest.group(3).replaceAll("\\\\(.)", "$1");
                parameters.putIfAbsent(rest.group(1).toLowerCase(Locale.ROOT), value);
            }
            end = rest.end();
            rest.region(end, trimmed.length());
        }
        return Optional.of(new MediaType(name.group(1), name.group(2), parameters));
    }

    /// Whether this, read as a range, covers `other`: the parameters do not count.
    public boolean includes(MediaType other) {
        return (type.equals("*") || type.equals(other.type)) && (subtype.equals("*") || subtype.equals(other.subtype));
    }

    /// Whether both have the same type and subtype: the parameters do not count.
    public boolean sameTypeAs(MediaType other) {
        return type.equals(other.type) && subtype.equals(other.subtype);
    }

    /// Whether this stands for more than one type.
    public boolean isRange() {
        return type.equals("*") || subtype.equals("*");
    }

    /// The same type without its parameters.
    public MediaType withoutParameters() {
        return parameters.isEmpty() ? this : of(type, subtype);
    }

    @Override
    public String toString() {
        var text = new StringBuilder(type).append('/').append(subtype);
        parameters.forEach(
                (name, value) -> text.append("; ").append(name).append('=').append(quotedIfNeeded(value)));
        return text.toString();
    }

    private static String quotedIfNeeded(String value) {
        return value.matches(TOKEN) ? value : '"' + value.replaceAll("([\"\\\\])", "\\\\$1") + '"';
    }
}
