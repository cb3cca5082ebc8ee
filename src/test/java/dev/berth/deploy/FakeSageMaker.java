package dev.berth.deploy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.javalin.Javalin;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Answers the calls that make an endpoint, as SageMaker does, and keeps them. It looks at no
/// parameter: AWS's SDK has checked them by its models.
final class FakeSageMaker implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Javalin server;
    private final List<Call> calls = new ArrayList<>();
    private final Map<String, JsonNode> things = new HashMap<>();
    private final List<String> statuses = new ArrayList<>();
    private String refusal = "";
    private boolean rollsBack;

    /// @param action such as `CreateModel`
    record Call(String action, JsonNode parameters) {}

    private record Answer(int status, Map<String, Object> body) {}

    FakeSageMaker() {
        server = Javalin.create(config -> config.routes.post("/", context -> {
                    var action = context.header("X-Amz-Target").replace("SageMaker.", "");
                    var answer = answer(action, JSON.readTree(context.body()));
                    context.status(answer.status())
                            .contentType("application/x-amz-json-1.1")
                            .result(JSON.writeValueAsString(answer.body()));
                }))
                .start("127.0.0.1", 0);
    }

    int port() {
        return server.port();
    }

    /// What the endpoint's status is, one for each time that it is asked for after a change; then
    /// `InService`.
    synchronized void statuses(String... next) {
        statuses.clear();
        statuses.addAll(List.of(next));
    }

    /// From now on this action is refused.
    synchronized void refuse(String action) {
        refusal = action;
    }

    /// From now on an endpoint keeps its configuration when it is updated.
    synchronized void rollBack() {
        rollsBack = true;
    }

    /// The calls since the last time that they were asked for.
    synchronized List<Call> calls() {
        var copy = List.copyOf(calls);
        calls.clear();
        return copy;
    }

    private synchronized Answer answer(String action, JsonNode parameters) {
        calls.add(new Call(action, parameters));
        if (action.equals(refusal)) {
            return problem("AccessDeniedException", "User is not authorized to perform: sagemaker:" + action);
        }
        var kind = action.replaceFirst("Create|Describe|Update", "");
        var id = kind + " " + parameters.path(kind + "Name").asText();
        if (!action.startsWith("Describe")) {
            if (!(rollsBack && action.startsWith("Update"))) {
                things.put(id, parameters);
            }
            return new Answer(200, Map.of(kind + "Arn", "arn:aws:sagemaker:eu-west-1:123456789012:" + kind));
        }
        if (!things.containsKey(id)) {
            return problem("ValidationException", "Could not find " + id);
        }
        var body = new HashMap<String, Object>(Map.of(
                "CreationTime", 0, "LastModifiedTime", 0, "ExecutionRoleArn", "arn:aws:iam::123456789012:role/berth"));
        things.get(id).propertyStream().forEach(property -> body.put(property.getKey(), property.getValue()));
        if (kind.equals("Endpoint")) {
            var status = statuses.isEmpty() ? "InService" : statuses.removeFirst();
            body.put("EndpointStatus", status);
            if (status.equals("Failed")) {
                body.put("FailureReason", "The container did not pass the ping health check");
            }
        }
        return new Answer(200, body);
    }

    private static Answer problem(String type, String message) {
        return new Answer(400, Map.of("__type", type, "message", message));
    }

    @Override
    public void close() {
        server.stop();
    }
}
