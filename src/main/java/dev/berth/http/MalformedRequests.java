package dev.berth.http;

import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/// Answers what never reaches a route, because it is no HTTP, its path is illegal or its headers
/// are too large, with the same body as every other error.
final class MalformedRequests extends ErrorHandler {

  @Override
  public boolean errorPageForMethod(String method) {
    return true;
  }

  @Override
  protected void generateResponse(
      Request request,
      Response response,
      int status,
      String message,
      Throwable cause,
      Callback callback) {
    response.getHeaders().put(RequestLog.REQUEST_ID_HEADER, RequestLog.malformed(status, message));
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, Errors.CONTENT_TYPE);
    var body =
        OpenInference.has(String.valueOf(request.getHttpURI().getPath()))
            ? Errors.alone(message)
            : Errors.body(status, message);
    response.write(true, ByteBuffer.wrap(body), callback);
  }
}
