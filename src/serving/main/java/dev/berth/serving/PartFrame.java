package dev.berth.serving;

import dev.berth.hooks.MediaType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// What stands around the parts of a streamed answer, so that readers find them again: pieces of
/// the network's own choice arrive, whatever was sent.
enum PartFrame {
    /// An event of `data:` lines, one for each line of the part (WHATWG HTML §9.2.6).
    EVENT,
    LINE,
    NONE;

    static PartFrame of(MediaType type) {
        var plain = type.withoutParameters();
        return plain.equals(MediaType.EVENT_STREAM) ? EVENT : plain.equals(MediaType.JSON_LINES) ? LINE : NONE;
    }

    byte[] around(byte[] data) {
        return switch (this) {
            case EVENT -> event(data);
            case LINE -> {
                var line = Arrays.copyOf(data, data.length + 1);
                line[data.length] = '\n';
                yield line;
            }
            case NONE -> data;
        };
    }

    /// In ISO 8859-1 each byte is a character, whatever the part is written in.
    private static byte[] event(byte[] data) {
        var lines = new String(data, StandardCharsets.ISO_8859_1)
                .replace("\r\n", "\n")
                .replace('\r', '\n');
        return ("data: " + lines.replace("\n", "\ndata: ") + "\n\n").getBytes(StandardCharsets.ISO_8859_1);
    }
}
