package dev.berth.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The first line and the headers of a request or a response, as they are on the wire.
record HttpHead(String first, List<String> headers) {

    private static final int EMPTY_LINE = 0x0d0a0d0a;

    /// The next one, or null at the end of the connection.
    static HttpHead read(InputStream in) throws IOException {
        var bytes = new ByteArrayOutputStream();
        int last = 0;
        while (last != EMPTY_LINE) {
            int value = in.read();
            if (value < 0) {
                return null;
            }
            bytes.write(value);
            last = last << Byte.SIZE | value;
        }
        var lines = bytes.toString(StandardCharsets.ISO_8859_1).strip().split("\r\n");
        return new HttpHead(lines[0], List.of(lines).subList(1, lines.length));
    }

    /// A word of the first line, from 0.
    String word(int index) {
        return first.split(" ")[index];
    }

    Optional<String> header(String name) {
        return headers.stream()
                .filter(line -> isNamed(line, name))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst();
    }

    long contentLength() {
        return header("Content-Length").map(Long::parseLong).orElse(0L);
    }

    HttpHead without(String... names) {
        return new HttpHead(
                first,
                headers.stream()
                        .filter(line -> Stream.of(names).noneMatch(name -> isNamed(line, name)))
                        .toList());
    }

    HttpHead with(String name, String value) {
        return new HttpHead(
                first,
                Stream.concat(headers.stream(), Stream.of(name + ": " + value)).toList());
    }

    void write(OutputStream out) throws IOException {
        out.write((first + "\r\n" + String.join("\r\n", headers) + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    private static boolean isNamed(String line, String name) {
        return line.regionMatches(true, 0, name + ":", 0, name.length() + 1);
    }
}
