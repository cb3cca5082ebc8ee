package dev.berth.config;

import dev.berth.hooks.MediaType;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/// How the text of a setting is read and shown.
///
/// @param label stands for the value in `--help`, such as `<seconds>`
/// @param expected what a good value is, to end the sentence "expected …"
/// @param reader gives the value; null or an [IllegalArgumentException] where the text is not one
/// @param shower gives the value as the log and the documentation write it, with its unit
/// @param variants how those variables spell it that differ
public record Syntax<T>(
        String label,
        String expected,
        Function<String, T> reader,
        Function<T, String> shower,
        Map<String, Syntax<T>> variants) {

    /// Of any unit: enough for everybody, and far from what overflows.
    private static final int MOST_UNITS = 1_000_000;

    private static final long MEBIBYTE = 1024 * 1024;

    /// One whose values are shown as they are.
    public Syntax(String label, String expected, Function<String, T> reader) {
        this(label, expected, reader, String::valueOf, Map.of());
    }

    public static Syntax<Integer> wholeNumber(int least, int most) {
        var expected = most == Integer.MAX_VALUE
                ? "a whole number, at least " + least
                : "a whole number from %d to %d".formatted(least, most);
        return new Syntax<>("<n>", expected, Integer::valueOf)
                .where(value -> value >= least && value <= most)
                .shown(value -> value == Integer.MAX_VALUE ? "unlimited" : value.toString());
    }

    public static Syntax<Integer> positive() {
        return wholeNumber(1, Integer.MAX_VALUE);
    }

    public static Syntax<Duration> seconds(int least) {
        return duration("seconds", Duration.ofSeconds(1), least);
    }

    public static Syntax<Duration> duration(String unitName, Duration unit, int least) {
        return new Syntax<>(
                        "<" + unitName + ">",
                        "a whole number of %s from %d to %d".formatted(unitName, least, MOST_UNITS),
                        text -> unit.multipliedBy(
                                wholeNumber(least, MOST_UNITS).read(text).orElseThrow(IllegalArgumentException::new)))
                .shown(value -> value.toMillis() % 1000 == 0 ? value.toSeconds() + " s" : value.toMillis() + " ms");
    }

    public static Syntax<Long> bytes() {
        return payload("bytes", 1, Long.MAX_VALUE);
    }

    public static Syntax<Long> mebibytes() {
        return payload("MiB", MEBIBYTE, Integer.MAX_VALUE);
    }

    private static Syntax<Long> payload(String unitName, long unit, long most) {
        return new Syntax<>("<" + unitName + ">", "a whole number of %s, 0 for unlimited".formatted(unitName), text -> {
                    long value = Long.parseLong(text);
                    return value < 0 || value > most ? null : value == 0 ? Long.MAX_VALUE : Long.valueOf(value * unit);
                })
                .shown(Syntax::showBytes);
    }

    private static String showBytes(long bytes) {
        if (bytes == Long.MAX_VALUE) {
            return "unlimited";
        }
        return bytes % MEBIBYTE == 0 ? bytes / MEBIBYTE + " MiB" : bytes + " bytes";
    }

    public static Syntax<Boolean> trueOrFalse() {
        return new Syntax<>(
                "<true|false>", "true or false", text -> text.matches("(?i)true|false") ? Boolean.valueOf(text) : null);
    }

    /// One of an enum's constants, in any case and with `-`, `_` or nothing between its words.
    public static <E extends Enum<E>> Syntax<E> oneOf(Class<E> type) {
        return oneOf(type, constant -> constant.name().toLowerCase(Locale.ROOT).replace('_', '-'));
    }

    public static <E extends Enum<E>> Syntax<E> oneOf(Class<E> type, Function<E, String> show) {
        var constants = type.getEnumConstants();
        var spelled = Arrays.stream(constants).map(show).toList();
        return new Syntax<>(
                        "<" + String.join("|", spelled) + ">",
                        "one of " + String.join(", ", spelled),
                        text -> Arrays.stream(constants)
                                .filter(constant -> letters(constant.name()).equals(letters(text)))
                                .findFirst()
                                .orElse(null))
                .shown(show);
    }

    private static String letters(String text) {
        return text.replaceAll("[_-]", "").toLowerCase(Locale.ROOT);
    }

    public static Syntax<MediaType> mediaType() {
        return new Syntax<>(
                "<type>",
                "a media type such as application/json",
                text -> MediaType.parse(text).filter(type -> !type.isRange()).orElse(null));
    }

    public static Syntax<Path> directory() {
        return directory("a directory that exists", Path::of);
    }

    static Syntax<Path> directory(String expected, Function<String, Path> reader) {
        return new Syntax<>("<dir>", expected, reader).where(Files::isDirectory);
    }

    /// What to do about an archive in the place of a directory, as the end of a message; empty for other
    /// values.
    public static String unpacking(String text) {
        return text.matches(".*\\.(tar\\.gz|tgz)")
                ? "; unpack it first: mkdir my-model && tar -xzf %s -C my-model".formatted(text)
                : "";
    }

    public static Syntax<URI> httpAddress(String example) {
        return new Syntax<>("<url>", "an address such as " + example, URI::create)
                .where(uri ->
                        uri.getHost() != null && String.valueOf(uri.getScheme()).matches("https?"))
                .shown(uri -> withoutUser(uri.toString()));
    }

    /// An address without the name and password that may stand in it.
    public static String withoutUser(String address) {
        return address.replaceAll("(?<=//)[^/?#\\s]*@", "…@");
    }

    public static Syntax<String> word(String label, String expected) {
        return matching(label, expected, "\\S+");
    }

    public static Syntax<String> matching(String label, String expected, String pattern) {
        return new Syntax<>(label, expected, Function.<String>identity()).where(text -> text.matches(pattern));
    }

    /// The same, for those values that fulfil a condition.
    public Syntax<T> where(Predicate<T> isGood) {
        return new Syntax<>(
                label,
                expected,
                text -> Optional.ofNullable(reader.apply(text)).filter(isGood).orElse(null),
                shower,
                variants);
    }

    public Syntax<T> shown(Function<T, String> how) {
        return new Syntax<>(label, expected, reader, how, variants);
    }

    /// The same, where one of the variables spells it in another way, such as in another unit.
    public Syntax<T> in(String variable, Syntax<T> another) {
        var all = new HashMap<>(variants);
        all.put(variable, another);
        return new Syntax<>(label, expected, reader, shower, all);
    }

    /// Reads a value, without the blanks around it.
    public Optional<T> read(String text) {
        try {
            return Optional.ofNullable(reader.apply(text.strip()));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    public String show(T value) {
        return shower.apply(value);
    }
}
