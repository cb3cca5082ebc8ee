package dev.berth.conformance;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// What is sent to a container.
///
/// @param path with its query, such as `/models?limit=2`
/// @param headers names and values in turn, sent as they are spelled
/// @param chunked whether the body goes in chunks, without a Content-Length
record Request(String method, String path, List<String> headers, byte[] body, boolean chunked) {

    private static final int CHUNK = 1000;

    static Request get(String path, String... headers) {
        return new Request("GET", path, List.of(headers), new byte[0], false);
    }

    static Request post(String path, byte[] body, String... headers) {
        return new Request("POST", path, List.of(headers), body, false);
    }

    static Request delete(String path) {
        return new Request("DELETE", path, List.of(), new byte[0], false);
    }

    Request inChunks() {
        return new Request(method, path, headers, body, true);
    }

    Request with(String name, String value) {
        var all = new ArrayList<>(headers);
        all.add(name);
        all.add(value);
        return new Request(method, path, all, body, chunked);
    }

    /// The request line and the headers.
    ///
    /// @param target what stands in the request line
    /// @param more headers that every request has: names and values in turn
    byte[] head(String target, List<String> more) {
        var head = new StringBuilder(method + " " + target + " HTTP/1.1\r\n");
        var all = new ArrayList<>(more);
        all.addAll(headers);
        if (chunked) {
            all.addAll(List.of("Transfer-Encoding", "chunked"));
        } else if (method.equals("POST") && !names(all, "Content-Length")) {
            all.addAll(List.of("Content-Length", String.valueOf(body.length)));
        }
        for (int i = 0; i < all.size(); i += 2) {
            head.append(all.get(i)).append(": ").append(all.get(i + 1)).append("\r\n");
        }
        return head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8);
    }

    private static boolean names(List<String> headers, String name) {
        for (int i = 0; i < headers.size(); i += 2) {
            if (headers.get(i).equalsIgnoreCase(name)) {
                return true;
            }
        }
        return false;
    }

    byte[] framedBody() {
        if (!chunked) {
            return body;
        }
        var framed = new ByteArrayOutputStream();
        for (int at = 0; at < body.length; at += CHUNK) {
            int size = Math.min(CHUNK, body.length - at);
            framed.writeBytes((Integer.toHexString(size) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            framed.write(body, at, size);
            framed.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        framed.writeBytes("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return framed.toByteArray();
    }
}
