package dev.berth.hooks;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// One HTTP call to `/invocations`, or one message of a WebSocket, as the hooks see it.
///
/// The body is a stream that can be read once, so that a hook may take a payload larger than memory
/// record by record; [#bytes()] and [#text()] read all of it and keep it.
public final class InvocationRequest {

    /// The name among the [#attributes()] under which `inputFn` may leave the number of tokens of a
    /// request, an [Integer]. Protocols whose answers count tokens say it.
    public static final String TOKENS = "berth.tokens";

    private InputStream body;
    private MediaType contentType;
    private MediaType accept;
    private final Optional<String> customAttributes;
    private final String inferenceId;
    private final boolean keepBadRecords;
    private final Map<String, Object> attributes;
    private String path = "/invocations";
    private Optional<String> query = Optional.empty();

    /// By their names in lower case.
    private Map<String, String> headers = Map.of();

    private Optional<String> traceParent = Optional.empty();

    /// As [System#nanoTime()] counts; empty: there is none.
    private OptionalLong deadline = OptionalLong.empty();

    private Optional<Object> session = Optional.empty();

    /// The body, once it was read as a whole.
    private volatile byte[] bytes;

    /// @param accept the one type that the response should have, negotiated from `Accept`
    /// @param customAttributes `X-Amzn-SageMaker-Custom-Attributes`, unchanged
    /// @param inferenceId `X-Amzn-SageMaker-Inference-Id`, or the id of this request
    /// @param keepBadRecords see [#keepBadRecords()]
    public InvocationRequest(
            InputStream body,
            MediaType contentType,
            MediaType accept,
            Optional<String> customAttributes,
            String inferenceId,
            boolean keepBadRecords) {
        this.body = Objects.requireNonNull(body, "body");
        this.contentType = Objects.requireNonNull(contentType, "contentType");
        this.accept = Objects.requireNonNull(accept, "accept");
        this.customAttributes = Objects.requireNonNull(customAttributes, "customAttributes");
        this.inferenceId = Objects.requireNonNull(inferenceId, "inferenceId");
        this.keepBadRecords = keepBadRecords;
        this.attributes = new ConcurrentHashMap<>();
    }

    /// A copy, of which [#with] changes one thing before anybody else sees it.
    private InvocationRequest(InvocationRequest other) {
        body = other.body;
        contentType = other.contentType;
        accept = other.accept;
        customAttributes = other.customAttributes;
        inferenceId = other.inferenceId;
        keepBadRecords = other.keepBadRecords;
        attributes = other.attributes;
        path = other.path;
        query = other.query;
        headers = other.headers;
        traceParent = other.traceParent;
        deadline = other.deadline;
        session = other.session;
    }

    private InvocationRequest with(Consumer<InvocationRequest> change) {
        var same = new InvocationRequest(this);
        change.accept(same);
        return same;
    }

    /// The same request with another body, and with the same [#attributes()].
    public InvocationRequest withBody(InputStream other) {
        return with(same -> same.body = Objects.requireNonNull(other, "body"));
    }

    /// The same request with a body in other types, and with the same [#attributes()].
    public InvocationRequest withTypes(MediaType contentType, MediaType accept) {
        return with(same -> {
            same.contentType = Objects.requireNonNull(contentType, "contentType");
            same.accept = Objects.requireNonNull(accept, "accept");
        });
    }

    /// The same request with its body in memory, which [#body()] may read once more.
    InvocationRequest withBytes() throws IOException {
        var whole = bytes();
        var same = withBody(new ByteArrayInputStream(whole));
        same.bytes = whole;
        return same;
    }

    /// The same request with its caller's `traceparent`, and with the same [#attributes()].
    public InvocationRequest withTraceParent(Optional<String> other) {
        return with(same -> same.traceParent = Objects.requireNonNull(other, "traceParent"));
    }

    /// The same request for another path, and with the same [#attributes()].
    public InvocationRequest withPath(String path, Optional<String> query) {
        return with(same -> {
            same.path = Objects.requireNonNull(path, "path");
            same.query = Objects.requireNonNull(query, "query");
        });
    }

    /// The same request with headers, and with the same [#attributes()].
    ///
    /// @param headers what [#header] finds, by any spelling of their names
    public InvocationRequest withHeaders(Map<String, String> headers) {
        var lowered = new HashMap<String, String>();
        headers.forEach((name, value) -> lowered.put(name.toLowerCase(Locale.ROOT), value));
        return with(same -> same.headers = Map.copyOf(lowered));
    }

    /// The same request with a deadline, and with the same [#attributes()].
    ///
    /// @param nanos as [System#nanoTime()] counts
    public InvocationRequest withDeadline(long nanos) {
        return with(same -> same.deadline = OptionalLong.of(nanos));
    }

    /// The same request in a session, and with the same [#attributes()].
    ///
    /// @param value what [SessionHandler#openSession] returned for it
    public InvocationRequest withSession(Object value) {
        return with(same -> same.session = Optional.of(value));
    }

    /// The body, to be read once. Reading past the server's payload limit fails, and the caller gets
    /// 413.
    public InputStream body() {
        return body;
    }

    /// The whole body, read from [#body()] by the first call. Later calls return the same array, so
    /// do not change it. What was read from [#body()] before is not in it.
    public byte[] bytes() throws IOException {
        if (bytes == null) {
            bytes = body.readAllBytes();
        }
        return bytes;
    }

    /// The whole body as text without a byte order mark: UTF-8, unless the content type names another
    /// charset. Malformed bytes are an error and never replaced, because an answer's offsets would be
    /// wrong afterwards.
    ///
    /// @throws BadInputException naming the offset of the first byte that is not of that charset
    /// @throws UnsupportedMediaTypeException when the charset is not known
    public String text() throws IOException {
        var charset = charset();
        var bytes = bytes();
        var text = new String(bytes, charset);
        // What stands there for malformed bytes, and seldom for anything else. A decoder that reports
        // them takes several times as long and as much memory, so it only has a second look.
        if (text.indexOf('\uFFFD') >= 0) {
            requireWellFormed(bytes, charset);
        }
        return text.startsWith("\uFEFF") ? text.substring(1) : text;
    }

    /// The whole body as JSON. Unit tests need `dev.berth:berth`, whose reader this is.
    ///
    /// @throws BadInputException naming the line and column where the body stops to be JSON
    public JsonNode json() throws IOException {
        return Readers.JSON
                .orElseThrow(() -> new IllegalStateException(
                        "json(): found no reader of JSON; put dev.berth:berth on the class path"))
                .readBody(text());
    }

    /// Looked for when the first body is read.
    private static final class Readers {
        static final Optional<JsonReader> JSON = ServiceLoader.load(JsonReader.class, JsonReader.class.getClassLoader())
                .findFirst();
    }

    private static void requireWellFormed(byte[] text, Charset charset) {
        var bytes = ByteBuffer.wrap(text);
        try {
            charset.newDecoder().decode(bytes);
        } catch (CharacterCodingException e) {
            throw new BadInputException(
                    "body: found the byte 0x%02x at offset %d, which is not %3$s; expected %3$s text"
                            .formatted(bytes.get(bytes.position()), bytes.position(), charset));
        }
    }

    private Charset charset() {
        var name = contentType.parameters().getOrDefault("charset", "utf-8");
        try {
            return Charset.forName(name);
        } catch (IllegalArgumentException e) {
            throw new UnsupportedMediaTypeException(
                    "Content-Type: found the unknown charset \"%s\", expected utf-8".formatted(name), e);
        }
    }

    /// The content type of [#body()]; `application/json` where the caller named none.
    public MediaType contentType() {
        return contentType;
    }

    /// The type that the response should have.
    public MediaType accept() {
        return accept;
    }

    /// The value of `X-Amzn-SageMaker-Custom-Attributes`, unchanged. It is not echoed unless a hook
    /// sets it on the response.
    public Optional<String> customAttributes() {
        return customAttributes;
    }

    /// What `inputFn` leaves here for `outputFn` of the same request, such as the form that the body
    /// had. It may be changed by any thread; neither names nor values may be null.
    public Map<String, Object> attributes() {
        return attributes;
    }

    /// The name of this call: `X-Amzn-SageMaker-Inference-Id`, else the id that its log lines and its
    /// response have.
    public String inferenceId() {
        return inferenceId;
    }

    /// A `traceparent` (W3C Trace Context) for calls that a hook makes itself. Of a server that sends
    /// traces it names the request's own span, else it is the caller's where that is valid, or what
    /// its `X-Amzn-Trace-Id` says.
    public Optional<String> traceParent() {
        return traceParent;
    }

    /// The path that the caller asked for, such as `/invocations`. A WebSocket may have another one:
    /// SageMaker's callers choose it with `X-Amzn-SageMaker-Model-Invocation-Path`.
    public String path() {
        return path;
    }

    /// What stands behind the `?`, as the caller wrote it.
    public Optional<String> query() {
        return query;
    }

    /// The session that the request is in: what [SessionHandler#openSession] returned for it. Nothing
    /// where the caller uses none. No other request of the session runs at the same time.
    ///
    /// @throws ClassCastException when it is of another type
    public <T> Optional<T> session(Class<T> type) {
        return session.map(type::cast);
    }

    /// A header of the request, by any spelling of its name: `Content-Type`, `Accept`, `traceparent`,
    /// `X-Amzn-Trace-Id` and those that begin with `X-Amzn-SageMaker-`. SageMaker lets no others
    /// through to a container, so none of a server at home are here either.
    ///
    /// Several values of one name are joined by `, `.
    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name.toLowerCase(Locale.ROOT)));
    }

    /// The time that is left until the caller gets 504, and zero after that. A hook that still runs
    /// then is interrupted. Of an answer that streams it is the time until its first part. Without a
    /// deadline, as in a unit test, it is some centuries.
    public Duration remaining() {
        return deadline.isEmpty()
                ? Duration.ofNanos(Long.MAX_VALUE)
                : Duration.ofNanos(Math.max(0, deadline.getAsLong() - System.nanoTime()));
    }

    /// Whether one bad record among several should become an error in its own place of the response,
    /// keeping the order, instead of failing the request. The operator decides it for line formats:
    /// in a batch-transform job a failed request costs its whole file.
    public boolean keepBadRecords() {
        return keepBadRecords;
    }
}
