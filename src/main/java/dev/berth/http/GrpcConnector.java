package dev.berth.http;

import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/// Listens for HTTP/2 without TLS, as clients of gRPC speak it inside of a network. All routes are
/// there.
final class GrpcConnector {

  static final String NAME = "grpc";

  /// What of all bodies of a connection may lie in Jetty's buffers, in which nobody counts it.
  /// [ConnectionLimit] allows a connection for as much heap.
  private static final int WINDOW = 256 << 10;

  private static final int STREAMS = 128;

  private GrpcConnector() {}

  /// @param connections the most at the same time; further ones wait to be accepted
  static ServerConnector of(Server server, HttpConfiguration http, int connections) {
    var http2 = new HTTP2CServerConnectionFactory(http);
    http2.setInitialSessionRecvWindow(WINDOW);
    http2.setInitialStreamRecvWindow(WINDOW);
    http2.setMaxConcurrentStreams(STREAMS);
    http2.setUseInputDirectByteBuffers(false);
    http2.setUseOutputDirectByteBuffers(false);
    var connector = new ServerConnector(server, http2);
    connector.setName(NAME);
    connector.addBean(new NetworkConnectionLimit(connections, connector));
    return connector;
  }
}
