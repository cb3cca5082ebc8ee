package dev.berth.testing;

import dev.berth.command.Server;
import dev.berth.config.Configuration;
import dev.berth.hooks.InvocationRequest;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// A server in a process of its own whose `inputFn` reads the body as a stream and answers its
/// length.
public final class CountingServer {

    private CountingServer() {}

    public static void main(String[] args) throws Exception {
        var server = Server.start(
                Configuration.read(System.getenv(), Map.of(), Path.of(".")).config(), new TextHandler() {
                    @Override
                    public List<String> inputFn(InvocationRequest request) throws IOException {
                        return List.of(String.valueOf(request.body().transferTo(OutputStream.nullOutputStream())));
                    }
                });
        server.awaitReady();
        Thread.currentThread().join();
    }
}
