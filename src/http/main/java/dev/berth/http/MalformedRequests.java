package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.Function;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.http.HttpStatus;
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
        if (status == HttpStatus.SERVICE_UNAVAILABLE_503) {
            // Jetty refuses what comes while the last responses leave.
            refuse(response, ErrorType.NOT_READY.because("the server is stopping"), callback);
            return;
        }
        response.getHeaders().put(RequestLog.REQUEST_ID_HEADER, RequestLog.malformed(status, message));
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, ErrorForm.CONTENT_TYPE);
        var body = forms.apply(String.valueOf(request.getHttpURI().getPath())).malformed(status, message);
        response.write(true, ByteBuffer.wrap(body), callback);
    }

    /// Refuses a request before any route, and closes its connection.
    static void refuse(Response response, ServingException e, Callback callback) {
        response.setStatus(e.type().status());
        response.getHeaders().add(closing(UUID.randomUUID().toString(), e.type().retryAfter()));
        response.write(true, ByteBuffer.wrap(ErrorForm.PLAIN.body(e.type(), e.getMessage())), callback);
    }

    static byte[] slowHead(String message) {
        int status = HttpStatus.REQUEST_TIMEOUT_408;
        return response(status, RequestLog.malformed(status, message), ErrorForm.PLAIN.malformed(status, message));
    }

    static byte[] overloaded(String message) {
        var type = ErrorType.TOO_MANY_CONNECTIONS;
        return response(type.status(), UUID.randomUUID().toString(), ErrorForm.PLAIN.body(type, message));
    }

    /// A whole response, which Jetty knows nothing of.
    private static byte[] response(int status, String requestId, byte[] body) {
        var head = closing(requestId, ErrorType.TOO_MANY_CONNECTIONS.retryAfter())
                .put(HttpHeader.CONTENT_LENGTH, body.length);
        return "HTTP/1.1 %d %s\r\n%s%s"
                .formatted(
                        status,
                        HttpStatus.getMessage(status),
                        head.asString(),
                        new String(body, StandardCharsets.UTF_8))
                .getBytes(StandardCharsets.UTF_8);
    }

    private static HttpFields.Mutable closing(String requestId, int retryAfter) {
        var headers = HttpFields.build()
                .put(RequestLog.REQUEST_ID_HEADER, requestId)
                .put(HttpHeader.CONTENT_TYPE, ErrorForm.CONTENT_TYPE)
                .put(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE);
        return retryAfter > 0 ? headers.put(HttpHeader.RETRY_AFTER, retryAfter) : headers;
    }
}
