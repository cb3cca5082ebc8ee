package dev.berth.testing;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Names that a model may have, though they are odd in a path.
public final class ModelNames {

    private static final List<String> ALL = List.of(
            "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "a-b_c.d~",
            "a b+c",
            "a%2Fb",
            "dir/model.tar.gz",
            "100%",
            "invoke",
            "Größe 模型 😀",
            "a?b#c;d",
            "...",
            "a\\b",
            "../a/./b",
            "..;",
            "/",
            "\u0080");

    private ModelNames() {}

    public static List<String> all() {
        return ALL;
    }

    /// As a segment of a path.
    public static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
