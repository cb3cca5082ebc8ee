package dev.berth.openinference;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.http.CallerText;
import dev.berth.http.OpenRequests;
import dev.berth.http.ServerParts;
import dev.berth.openinference.HealthProtocol.HealthCheckRequest;
import dev.berth.openinference.HealthProtocol.HealthCheckResponse;
import dev.berth.openinference.HealthProtocol.HealthCheckResponse.ServingStatus;
import io.javalin.http.Context;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;

/// `grpc.health.v1.Health`, which Kubernetes and gRPC's own clients ask. The server's health is
/// that of `/ping`, and a model is a service by its name. Runs on the request's virtual thread.
record GrpcHealth(ServerParts parts) {

    private static final String SERVICE = "/grpc.health.v1.Health/";
    static final String CHECK = SERVICE + "Check";
    static final String WATCH = SERVICE + "Watch";

    /// What stands for the server.
    private static final List<String> SERVER = List.of("", "inference.GRPCInferenceService");

    /// How long a change may go unseen. Nobody tells of one, and to ask costs next to nothing.
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);

    void check(Context ctx) throws Exception {
        Grpc.call(ctx, parts.invocations(), message -> {
            var service = service(message);
            var status = status(service);
            if (status == ServingStatus.SERVICE_UNKNOWN) {
                throw ErrorType.NOT_FOUND.found(
                        "service", CallerText.quoted(service), "the name of a model, or nothing");
            }
            return answer(status);
        });
    }

    /// Sends the status, and each other one, until the client gives up or the server stops. Its
    /// connection may make way for others.
    void watch(Context ctx) throws Exception {
        var service = new AtomicReference<String>();
        Grpc.read(ctx, parts.invocations(), message -> service.set(service(message)));
        ServletContextRequest.getServletContextRequest(ctx.req()).addIdleTimeoutListener(_ -> false);
        var gone = OpenRequests.hasGone(ctx);
        Grpc.begin(ctx);
        var sent = ServingStatus.UNKNOWN;
        while (!gone.getAsBoolean()) {
            boolean isLast = parts.health().isStopping();
            var status = status(service.get());
            if (status != sent) {
                Grpc.send(ctx, Grpc.frame(answer(status)));
                sent = status;
                OpenRequests.awaitClient(ctx);
            }
            if (isLast) {
                throw ErrorType.NOT_READY.because("the server is stopping");
            }
            Thread.sleep(BETWEEN_LOOKS);
        }
    }

    private static String service(byte[] message) {
        try {
            return HealthCheckRequest.parseFrom(message).getService();
        } catch (InvalidProtocolBufferException e) {
            throw ErrorType.BAD_INPUT.because("message: not a HealthCheckRequest", e);
        }
    }

    private static HealthCheckResponse answer(ServingStatus status) {
        return HealthCheckResponse.newBuilder().setStatus(status).build();
    }

    private ServingStatus status(String service) {
        try {
            var problem = SERVER.contains(service)
                    ? parts.health().problem()
                    : parts.models().problem(parts.models().target(service, "")).or(parts.health()::problem);
            return problem.isEmpty() ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
        } catch (ServingException e) {
            if (e.type() == ErrorType.NOT_FOUND) {
                return ServingStatus.SERVICE_UNKNOWN;
            }
            throw e;
        }
    }
}
