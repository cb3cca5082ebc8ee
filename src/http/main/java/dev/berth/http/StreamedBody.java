package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.http.connections.OpenConnection;
import dev.berth.serving.ServedAnswer;
import io.javalin.http.Context;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/// Sends the parts of an answer as they come, in chunks. Used on the request's thread.
///
/// What fails after the first part can't have a status any more. An event stream says so in an
/// event, JSON Lines in a line; any other body is cut off, so that nobody takes it for a whole one.
public final class StreamedBody {

    /// The attribute of a request under which a `Runnable` stands that ends its answer as broken, for
    /// who would close the connection.
    public static final String BREAK = StreamedBody.class.getName();

    private final Context ctx;
    private final OpenConnection connection;
    private final ServedAnswer.Streamed<?> answer;

    StreamedBody(Context ctx, ServedAnswer.Streamed<?> answer) {
        this.ctx = ctx;
        this.connection = OpenRequests.connection(ctx);
        this.answer = answer;
    }

    void send() {
        ctx.contentType(answer.contentType().toString());
        if (is(MediaType.EVENT_STREAM)) {
            // Proxies would gather or keep events.
            ctx.header("Cache-Control", "no-cache");
            ctx.header("X-Accel-Buffering", "no");
        }
        answer.whenLate(connection::close);
        try {
            sendParts();
            RequestLog.of(ctx).served(answer.invocation());
        } catch (IOException e) {
            answer.abandon();
            RequestLog.of(ctx)
                    .failed(ErrorType.CALLER_GONE.because("the caller has gone before its answer was sent", e));
        } catch (ServingException e) {
            fail(e);
        }
    }

    private void sendParts() throws IOException {
        var output = ctx.res().getOutputStream();
        for (var part = answer.next(); part.isPresent(); part = answer.next()) {
            output.write(part.get());
            if (!answer.hasNext()) {
                output.flush();
            }
        }
    }

    private void fail(ServingException failure) {
        RequestLog.of(ctx).failed(failure);
        if (!is(MediaType.EVENT_STREAM) && !is(MediaType.JSON_LINES)) {
            Runnable breakOff = ctx.attribute(BREAK);
            Objects.requireNonNullElse(breakOff, connection::close).run();
            return;
        }
        try {
            var line = new String(ErrorForm.NESTED.body(failure.type(), failure.getMessage()), StandardCharsets.UTF_8);
            var framed = is(MediaType.EVENT_STREAM) ? "event: error\ndata: %s\n\n".formatted(line) : line + "\n";
            ctx.res().getOutputStream().write(framed.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    private boolean is(MediaType type) {
        return answer.contentType().withoutParameters().equals(type);
    }
}
