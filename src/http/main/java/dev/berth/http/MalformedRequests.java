package dev.berth.http;

import dev.berth.error.ErrorType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.Function;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/// Answers what never reaches a route, because it is no HTTP, its path is illegal, its headers are
/// too large or too slow, or there is no room for its connection, with the same body as every other
/// error.
final class MalformedRequests extends ErrorHandler {

    private final Function<String, ErrorForm> forms;

    /// @param forms the form of errors at a path
    MalformedRequests(Function<String, ErrorForm> forms) {
        this.forms = forms;
    }

    @Override
    public boolean errorPageForMethod(String method) {
        return true;
    }

    @Override
    protected void generateResponse(
            Request request, Response response, int status, String message, Throwable cause, Callback callback) {
        response.getHeaders().put(RequestLog.REQUEST_ID_HEADER, RequestLog.malformed(status, message));
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, ErrorForm.CONTENT_TYPE);
        var body = forms.apply(String.valueOf(request.getHttpURI().getPath())).malformed(status, message);
        response.write(true, ByteBuffer.wrap(body), callback);
    }

    static byte[] slowHead(String message) {
        return response(
                "408 Request Timeout", RequestLog.malformed(408, message), ErrorForm.PLAIN.malformed(408, message));
    }

    static byte[] overloaded(String message) {
        return response(
                ErrorType.TOO_MANY_CONNECTIONS.status() + " Service Unavailable",
                UUID.randomUUID().toString(),
                ErrorForm.PLAIN.body(ErrorType.TOO_MANY_CONNECTIONS, message));
    }

    /// A whole response, which Jetty knows nothing of.
    private static byte[] response(String status, String requestId, byte[] body) {
        return String.join(
                        "\r\n",
                        "HTTP/1.1 " + status,
                        RequestLog.REQUEST_ID_HEADER + ": " + requestId,
                        "Content-Type: " + ErrorForm.CONTENT_TYPE,
                        "Content-Length: " + body.length,
                        "Retry-After: " + ErrorType.TOO_MANY_CONNECTIONS.retryAfter(),
                        "Connection: close",
                        "",
                        new String(body, StandardCharsets.UTF_8))
                .getBytes(StandardCharsets.UTF_8);
    }
}
