package dev.berth.desk;

import dev.berth.config.HttpConfig;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.http.CallerText;
import dev.berth.http.Headers;
import dev.berth.http.StreamedBody;
import dev.berth.http.body.RequestBody;
import dev.berth.http.body.Upload;
import dev.berth.json.JsonText;
import dev.berth.serving.hooks.Deadline;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.URIUtil;
import software.amazon.eventstream.HeaderValue;
import software.amazon.eventstream.Message;

/// SageMaker Runtime's public API in front of the container's own, as the platform has it: boto3
/// and the other SDKs ask a server at a desk as they ask an endpoint. Endpoints may have any name.
/// No signature is checked.
///
/// It passes requests on to the container's paths, and turns what comes back into what the platform
/// makes of it: any error into a `ModelError`, the parts of a stream into events. Runs on the
/// request's thread.
///
/// Sources: the API's model `sagemaker-runtime`, version 2017-05-13; AWS's guide.
final class RuntimeApi extends Handler.Wrapper {

    private static final Pattern PATH = Pattern.compile(
            "/endpoints/(?<endpoint>[^/]+)/(?:(?<call>(?:async-)?invocations|invocations-response-stream)|openai(?<openai>/v1/.+))");

    private static final String PREFIX = "X-Amzn-SageMaker-";
    private static final String TARGET_MODEL = PREFIX + "Target-Model";
    private static final String INFERENCE_COMPONENT = PREFIX + "Inference-Component";
    private static final String TARGET_VARIANT = PREFIX + "Target-Variant";
    private static final String TARGET_CONTAINER = PREFIX + "Target-Container-Hostname";
    private static final String ENABLE_EXPLANATIONS = PREFIX + "Enable-Explanations";
    private static final String VARIANT = "x-Amzn-Invoked-Production-Variant";
    private static final String ONLY_VARIANT = "AllTraffic";
    private static final String ARCHIVE = ".tar.gz";

    /// What an endpoint takes and answers at most.
    private static final long MOST_BYTES = 25 << 20;

    /// The same without an object as the input of an asynchronous invocation.
    private static final int MOST_INLINE_BYTES = 128_000;

    /// Errors have no more, but hooks may answer what they like.
    private static final int LONGEST_ERROR = 2048;

    private final boolean hasMany;
    private final Duration timeout;
    private final Optional<AsyncInvocations> async;

    /// @param hasMany whether the server has many models, of which a request names one
    /// @param timeout of a request
    RuntimeApi(boolean hasMany, Duration timeout, Optional<AsyncInvocations> async) {
        this.hasMany = hasMany;
        this.timeout = timeout;
        this.async = async;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        var path = PATH.matcher(request.getHttpURI().getCanonicalPath());
        if (!path.matches() || !request.getMethod().equals("POST")) {
            return super.handle(request, response, callback);
        }
        var endpoint = path.group("endpoint");
        var call = path.group("call");
        boolean isAsync = "async-invocations".equals(call);
        var deadline = Deadline.in(timeout, System::nanoTime);
        var upload = new Upload(request, response);
        upload.expect(deadline, Long.MAX_VALUE);
        try {
            long most = isAsync ? MOST_INLINE_BYTES : MOST_BYTES;
            if (request.getLength() > most) {
                throw tooLong(request.getLength(), most);
            }
            requireChoices(request.getHeaders(), endpoint, hasMany && call != null);
            if (isAsync) {
                accept(request, endpoint, upload, deadline, response, callback);
                return true;
            }
        } catch (ServingException e) {
            upload.discard();
            refuse(response, e, callback);
            return true;
        }
        var passed = passed(request, call == null ? path.group("openai") : container(request, endpoint));
        if (!"invocations-response-stream".equals(call)) {
            return super.handle(passed, new Plain(passed, response), callback);
        }
        var events = new Events(passed, response);
        passed.setAttribute(StreamedBody.BREAK, (Runnable) events::breakOff);
        return super.handle(passed, events, callback);
    }

    /// The container's path for a request to an endpoint.
    private String container(Request request, String endpoint) {
        if (!hasMany) {
            return "/invocations";
        }
        var headers = request.getHeaders();
        var model = Optional.ofNullable(headers.get(TARGET_MODEL))
                .or(() -> Optional.ofNullable(headers.get(INFERENCE_COMPONENT)))
                .map(URIUtil::encodePath)
                .map(name -> name.replace("/", "%2F"))
                .orElse(endpoint);
        return "/models/%s/invoke"
                .formatted(model.endsWith(ARCHIVE) ? model.substring(0, model.length() - ARCHIVE.length()) : model);
    }

    /// Refuses what chooses something that an endpoint does not have, as the platform does. An answer
    /// of something else would look like that of what was chosen.
    ///
    /// @param namesModel whether a header may name the model
    private static void requireChoices(HttpFields headers, String endpoint, boolean namesModel) {
        if (!namesModel) {
            requireNone(headers, endpoint, TARGET_MODEL, "is no multi-model endpoint");
            requireNone(headers, endpoint, INFERENCE_COMPONENT, "has no inference components");
        } else if (headers.contains(TARGET_MODEL)) {
            requireNone(headers, endpoint, INFERENCE_COMPONENT, "is asked for a target model already");
        }
        if (!ONLY_VARIANT.equals(headers.get(TARGET_VARIANT))) {
            requireNone(headers, endpoint, TARGET_VARIANT, "has one variant, " + ONLY_VARIANT);
        }
        requireNone(headers, endpoint, TARGET_CONTAINER, "has one container, without direct invocation");
        requireNone(headers, endpoint, ENABLE_EXPLANATIONS, "has no explainer");
    }

    private static void requireNone(HttpFields headers, String endpoint, String name, String why) {
        var found = headers.get(name);
        if (found != null) {
            throw ErrorType.BAD_INPUT.because("%s: found %s, but endpoint %s %s; leave it out"
                    .formatted(name, CallerText.quoted(found), CallerText.quoted(endpoint), why));
        }
    }

    private void accept(
            Request request, String endpoint, Upload upload, Deadline deadline, Response response, Callback callback)
            throws IOException {
        var invocations = async.orElseThrow(() -> ErrorType.BAD_INPUT.because(
                "found no place for asynchronous answers; name a directory or s3:// prefix with --async-output"));
        try (var body = new RequestBody(upload, -1, MOST_INLINE_BYTES, deadline)) {
            var payload = body.readAllBytes();
            // As the platform does it, by HTTP: all that holds for the container's callers holds here.
            var container = "http://%s:%d%s"
                    .formatted(
                            HttpConfig.inUrl(Request.getLocalAddr(request)),
                            Request.getLocalPort(request),
                            container(request, endpoint));
            var accepted = invocations.accept(URI.create(container), request.getHeaders()::get, payload);
            response.getHeaders()
                    .put(PREFIX + "OutputLocation", Headers.written(accepted.output()))
                    .put(PREFIX + "FailureLocation", Headers.written(accepted.failure()));
            answer(response, HttpStatus.ACCEPTED_202, Map.of("InferenceId", accepted.inferenceId()), callback);
        } catch (ServingException e) {
            throw e.type() == ErrorType.PAYLOAD_TOO_LARGE ? tooLong(MOST_INLINE_BYTES + 1, MOST_INLINE_BYTES) : e;
        }
    }

    private static ServingException tooLong(long found, long most) {
        return ErrorType.BAD_INPUT.because(
                "body: found %d bytes, expected at most the %d that an endpoint takes".formatted(found, most));
    }

    /// What the platform itself refuses, before it asks a container.
    private static void refuse(Response response, ServingException refusal, Callback callback) {
        var message = Map.of("Message", refusal.getMessage());
        var type = refusal.type();
        if (type == ErrorType.NOT_READY) {
            fail(response, type.status(), "ServiceUnavailable", message, callback);
        } else {
            var reason = type.isRefusal() ? "ThrottlingException" : "ValidationError";
            fail(response, ErrorType.BAD_INPUT.status(), reason, message, callback);
        }
    }

    private static void fail(Response response, int status, String type, Map<String, ?> members, Callback callback) {
        response.getHeaders().put("x-amzn-ErrorType", type);
        answer(response, status, members, callback);
    }

    private static void answer(Response response, int status, Map<String, ?> members, Callback callback) {
        response.setStatus(status);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
        response.write(true, ByteBuffer.wrap(JsonText.bytes(members)), callback);
    }

    /// A request as the container gets it. Calls that stream have the types of the container's answer
    /// under another name.
    private static Request passed(Request request, String path) {
        var headers = HttpFields.build(request.getHeaders());
        Optional.ofNullable(headers.get(PREFIX + "Accept")).ifPresent(accept -> headers.put(HttpHeader.ACCEPT, accept));
        return new Request.Wrapper(Request.serveAs(request, Request.newHttpURIFrom(request, path))) {
            @Override
            public HttpFields getHeaders() {
                return headers;
            }
        };
    }

    /// What the platform makes of an answer.
    private static class Plain extends Response.Wrapper {

        /// What has come of an error so far; null: it is none.
        private ByteArrayOutputStream error;

        private Plain(Request request, Response response) {
            super(request, response);
        }

        @Override
        public final void write(boolean last, ByteBuffer content, Callback callback) {
            if (error == null && !isCommitted()) {
                if (HttpStatus.isError(getStatus())) {
                    error = new ByteArrayOutputStream();
                } else {
                    getHeaders().put(VARIANT, ONLY_VARIANT);
                    begin();
                }
            }
            if (error == null) {
                send(last, content, callback);
                return;
            }
            error.writeBytes(BufferUtil.toArray(content));
            BufferUtil.clear(content);
            if (last) {
                modelError(callback);
            } else {
                callback.succeeded();
            }
        }

        /// Runs before anything is sent of an answer that is no error.
        void begin() {}

        void send(boolean last, ByteBuffer content, Callback callback) {
            super.write(last, content, callback);
        }

        private void modelError(Callback callback) {
            int status = getStatus();
            var text = CallerText.cut(error.toString(StandardCharsets.UTF_8), LONGEST_ERROR);
            var members = new LinkedHashMap<String, Object>();
            members.put(
                    "Message",
                    "Received %s error (%d) from primary with message \"%s\""
                            .formatted(status < 500 ? "client" : "server", status, text));
            members.put("OriginalMessage", text);
            members.put("OriginalStatusCode", status);
            members.put("LogStreamArn", "");
            error = null;
            getHeaders().remove(HttpHeader.CONTENT_LENGTH);
            fail(getWrapped(), HttpStatus.FAILED_DEPENDENCY_424, "ModelError", members, callback);
        }
    }

    /// An answer whose parts become events.
    private static final class Events extends Plain {

        private static final Map<String, HeaderValue> PART = headers(Map.of(
                ":message-type", "event", ":event-type", "PayloadPart", ":content-type", "application/octet-stream"));
        private static final Map<String, HeaderValue> BROKEN = headers(Map.of(
                ":message-type", "exception",
                ":exception-type", "ModelStreamError",
                ":content-type", "application/json"));

        /// Clients take no event of more than 16 MB.
        private static final int LONGEST_PART = 1 << 20;

        private boolean isBroken;

        private Events(Request request, Response response) {
            super(request, response);
        }

        @Override
        void begin() {
            var headers = getHeaders();
            var type = headers.get(HttpHeader.CONTENT_TYPE);
            if (type != null) {
                headers.put(new HttpField(PREFIX + "Content-Type", type));
            }
            headers.put(HttpHeader.CONTENT_TYPE, "application/vnd.amazon.eventstream");
            headers.remove(HttpHeader.CONTENT_LENGTH);
        }

        @Override
        void send(boolean last, ByteBuffer content, Callback callback) {
            if (isBroken || !BufferUtil.hasContent(content)) {
                super.send(last, BufferUtil.EMPTY_BUFFER, callback);
                return;
            }
            var events = new ByteArrayOutputStream();
            for (var rest = content.slice(); rest.hasRemaining(); ) {
                var part = new byte[Math.min(LONGEST_PART, rest.remaining())];
                rest.get(part);
                events.writeBytes(event(PART, part));
            }
            BufferUtil.clear(content);
            super.send(last, ByteBuffer.wrap(events.toByteArray()), callback);
        }

        private static Map<String, HeaderValue> headers(Map<String, String> values) {
            return values.entrySet().stream()
                    .collect(Collectors.toMap(Map.Entry::getKey, value -> HeaderValue.fromString(value.getValue())));
        }

        private static byte[] event(Map<String, HeaderValue> headers, byte[] payload) {
            return BufferUtil.toArray(new Message(headers, payload).toByteBuffer());
        }

        /// What was sent already is not all of the answer.
        private void breakOff() {
            if (!isBroken) {
                isBroken = true;
                var members = Map.of("Message", "the model's answer broke off", "ErrorCode", "StreamBroken");
                super.send(false, ByteBuffer.wrap(event(BROKEN, JsonText.bytes(members))), Callback.NOOP);
            }
        }
    }
}
