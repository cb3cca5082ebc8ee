package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.http.OpenRequests;
import dev.berth.http.ServerParts;
import io.javalin.http.Context;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;

/// `grpc.health.v1.Health`, which Kubernetes and gRPC's own clients ask. The server's health is
/// that of `/ping`, and a model is a service by its name. Runs on the request's virtual thread.
record GrpcHealth(ServerParts parts) {

    private static final ServiceDescriptor SERVICE =
            HealthProtocol.getDescriptor().findServiceByName("Health");
    static final MethodDescriptor CHECK = SERVICE.findMethodByName("Check");
    static final MethodDescriptor WATCH = SERVICE.findMethodByName("Watch");

    /// What stands for the server.
    private static final List<String> SERVER = List.of("", "inference.GRPCInferenceService");

    /// How long a change may go unseen. Nobody tells of one, and to ask costs next to nothing.
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);

    Object check(JsonNode asked) {
        return Map.of("status", status(asked.path("service").textValue()));
    }

    /// Sends the status, and each other one, until the client gives up or the server stops. Its
    /// connection may make way for others.
    void watch(Context ctx) throws Exception {
        var service = new AtomicReference<String>();
        Grpc.read(
                ctx,
                parts,
                WATCH,
                (asked, _) -> service.set(asked.path("service").textValue()));
        ServletContextRequest.getServletContextRequest(ctx.req()).addIdleTimeoutListener(_ -> false);
        var gone = OpenRequests.hasGone(ctx);
        Grpc.begin(ctx);
        var sent = "";
        while (!gone.getAsBoolean()) {
            boolean isLast = parts.health().isStopping();
            var status = statusIfKnown(service.get());
            if (!status.equals(sent)) {
                Grpc.send(ctx, Grpc.frame(WATCH.getOutputType(), Map.of("status", status)));
                sent = status;
                OpenRequests.awaitClient(ctx);
            }
            if (isLast) {
                throw ErrorType.NOT_READY.because("the server is stopping");
            }
            Thread.sleep(BETWEEN_LOOKS);
        }
    }

    private String statusIfKnown(String service) {
        try {
            return status(service);
        } catch (ServingException e) {
            if (e.type() == ErrorType.NOT_FOUND) {
                return "SERVICE_UNKNOWN";
            }
            throw e;
        }
    }

    private String status(String service) {
        var problem = SERVER.contains(service)
                ? parts.health().problem()
                : parts.models().problem(parts.models().target(service, "")).or(parts.health()::problem);
        return problem.isEmpty() ? "SERVING" : "NOT_SERVING";
    }
}
