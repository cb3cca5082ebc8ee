package dev.berth.http;

import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Request;

/// Headers in UTF-8, as boto3 and others send the names of objects and models. Jetty takes each
/// byte for a character of ISO-8859-1, and writes such characters alone.
public final class HeaderText implements HttpConfiguration.Customizer {

    @Override
    public Request customize(Request request, HttpFields.Mutable responseHeaders) {
        if (request.getHeaders().stream().map(HttpField::getValue).allMatch(HeaderText::isPlain)) {
            return request;
        }
        var headers = HttpFields.build();
        for (var field : request.getHeaders()) {
            headers.add(
                    isPlain(field.getValue())
                            ? field
                            : new HttpField(field.getHeader(), field.getName(), read(field.getValue())));
        }
        return new Request.Wrapper(request) {
            @Override
            public HttpFields getHeaders() {
                return headers;
            }
        };
    }

    private static boolean isPlain(String value) {
        for (int i = 0; value != null && i < value.length(); i++) {
            if (value.charAt(i) >= 0x80) {
                return false;
            }
        }
        return true;
    }

    /// @return the value itself where its bytes are not UTF-8
    private static String read(String value) {
        return CallerText.ofUtf8(value.getBytes(StandardCharsets.ISO_8859_1)).orElse(value);
    }

    /// A value as Jetty is to be given it.
    public static String written(String value) {
        return new String(value.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }
}
