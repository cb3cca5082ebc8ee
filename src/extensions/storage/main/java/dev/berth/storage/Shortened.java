package dev.berth.storage;

/// Texts of others in messages, cut where they are long.
public final class Shortened {

    private static final int MAX_LENGTH = 60;

    /// S3 says who may not do what with which resource, and that is longer.
    private static final int MAX_EXPLANATION = 240;

    private Shortened() {}

    public static String quoted(String text) {
        return '"' + cut(text, MAX_LENGTH) + '"';
    }

    public static String explanation(Throwable e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : explanation(e.getMessage());
    }

    /// On one line.
    public static String explanation(String text) {
        return cut(text.strip().replaceAll("\\s+", " "), MAX_EXPLANATION);
    }

    /// Cut between code points, so that no half of a surrogate pair is left.
    private static String cut(String text, int length) {
        if (text.length() <= length) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(length - 1)) ? length - 1 : length) + "…";
    }
}
