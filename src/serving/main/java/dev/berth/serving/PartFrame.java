package dev.berth.serving;

import dev.berth.hooks.MediaType;
import java.io.ByteArrayOutputStream;

/// What stands around the parts of a streamed answer, so that readers find them again: pieces of
/// the network's own choice arrive, whatever was sent.
enum PartFrame {
    /// An event of `data:` lines, one for each line of the part (WHATWG HTML §9.2.6).
    EVENT,
    LINE,
    NONE;

    private static final byte[] DATA = {'d', 'a', 't', 'a', ':', ' '};

    static PartFrame of(MediaType type) {
        var plain = type.withoutParameters();
        return plain.equals(MediaType.EVENT_STREAM) ? EVENT : plain.equals(MediaType.JSON_LINES) ? LINE : NONE;
    }

    byte[] around(byte[] data) {
        return switch (this) {
            case EVENT -> event(data);
            case LINE -> {
                var line = new byte[data.length + 1];
                System.arraycopy(data, 0, line, 0, data.length);
                line[data.length] = '\n';
                yield line;
            }
            case NONE -> data;
        };
    }

    private static byte[] event(byte[] data) {
        var event = new ByteArrayOutputStream(data.length + DATA.length + 2);
        event.writeBytes(DATA);
        for (int i = 0; i < data.length; i++) {
            boolean crlf = data[i] == '\r' && i + 1 < data.length && data[i + 1] == '\n';
            if (data[i] == '\n' || data[i] == '\r') {
                i += crlf ? 1 : 0;
                event.write('\n');
                event.writeBytes(DATA);
            } else {
                event.write(data[i]);
            }
        }
        event.write('\n');
        event.write('\n');
        return event.toByteArray();
    }
}
