package dev.berth.columnar;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/// Makes lines of JSON. For one thread.
final class JsonRow {

    /// What a JSON number can't be, such as NaN, is written as a text.
    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
            .build();

    /// What writes a row.
    interface Content {
        void write(JsonGenerator out) throws IOException;
    }

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    byte[] line(Content content) throws IOException {
        bytes.reset();
        try (var out = JSON.createGenerator(bytes)) {
            content.write(out);
        }
        bytes.write('\n');
        return bytes.toByteArray();
    }
}
