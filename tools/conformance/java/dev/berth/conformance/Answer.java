package dev.berth.conformance;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/// What came back, read whole.
///
/// @param headers names and values in turn
/// @param time from the request to the end of the answer
record Answer(int status, List<String> headers, byte[] body, Duration time) {

    private static final int SHOWN = 100;

    /// The first header of a name, in any case; empty where there is none.
    String header(String name) {
        for (int i = 0; i < headers.size(); i += 2) {
            if (headers.get(i).equalsIgnoreCase(name)) {
                return headers.get(i + 1);
            }
        }
        return "";
    }

    /// Whether it has a content type, whatever its parameters.
    boolean is(String type) {
        return type().equals(type);
    }

    /// The content type in small letters, without its parameters.
    String type() {
        return header("Content-Type").split(";")[0].strip().toLowerCase(Locale.ROOT);
    }

    String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    boolean isSuccess() {
        return status >= 200 && status < 300;
    }

    /// The body as JSON, whatever its type says.
    Object json() throws Check.Missed {
        try {
            return Json.read(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString());
        } catch (CharacterCodingException e) {
            throw new Check.Missed(status + " with a body that is not UTF-8");
        } catch (IOException e) {
            throw new Check.Missed("a body that is not JSON: " + shown());
        }
    }

    /// The status and how the body begins, in one line.
    String shown() {
        var text = text().replaceAll("\\s+", " ").strip();
        return (status + " " + (text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text)).strip();
    }

    /// The status and the content type.
    String shownType() {
        return status + " " + (type().isEmpty() ? "without a Content-Type" : header("Content-Type"));
    }
}
