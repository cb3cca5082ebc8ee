package dev.berth.http;

import dev.berth.error.ErrorType;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.UUID;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// Answers 503 on a connection beyond the limit, unless another one makes way for it or the request
/// asks for the server's health: a server whose connections are all busy is a healthy one. Runs on
/// the request's thread.
final class ReservedConnections extends Handler.Wrapper {

  private final Connections connections;
  private final Set<String> healthPaths;

  /// @param healthPaths those that are always answered
  ReservedConnections(Connections connections, Set<String> healthPaths) {
    this.connections = connections;
    this.healthPaths = Set.copyOf(healthPaths);
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    if (request.getConnectionMetaData().getConnection().getEndPoint()
            instanceof PeerAwareConnector.PeerAwareEndPoint endPoint
        && !healthPaths.contains(Request.getPathInContext(request))
        && !connections.admit(endPoint.place())) {
      refuse(response, callback);
      return true;
    }
    return super.handle(request, response, callback);
  }

  private void refuse(Response response, Callback callback) {
    response.setStatus(Errors.status(ErrorType.OVERLOADED));
    var headers = response.getHeaders();
    headers.put(RequestLog.REQUEST_ID_HEADER, UUID.randomUUID().toString());
    headers.put(HttpHeader.CONTENT_TYPE, Errors.CONTENT_TYPE);
    headers.put(HttpHeader.RETRY_AFTER, "1");
    headers.put(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE);
    response.write(
        true, ByteBuffer.wrap(Errors.body(ErrorType.OVERLOADED, connections.full())), callback);
  }
}
