package dev.berth.http.body;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.serving.hooks.Deadline;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/// The bytes of a request's body as they arrive. Jetty's own stream waits for as long as the
/// connection may be silent; this waits until the deadline of the request. Used by one thread at a
/// time.
public final class Upload extends BlockStream {

    private static final long MOST_TO_DISCARD = 256L << 20;
    private static final long LONGEST_DISCARD_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final Request request;
    private final Response response;
    private final Semaphore arrival = new Semaphore(0);

    /// Whether Jetty is to release `arrival` when there is more.
    private boolean demanded;

    /// What has arrived and is not taken yet; null where there is nothing.
    private Content.Chunk chunk;

    private boolean ended;
    private long received;

    /// Set by [#expect], before anything is taken.
    private Deadline deadline;

    private long limit;
    private long receivedBefore;

    public Upload(Request request, Response response) {
        this.request = request;
        this.response = response;
    }

    /// Says until when what is taken from now on may come, and how much of it. Bytes count as they are
    /// sent: in many that are compressed there may be nothing.
    public void expect(Deadline until, long limit) {
        this.deadline = until;
        this.limit = limit;
        this.receivedBefore = received;
    }

    /// Waits until more has arrived; false: that was all.
    ///
    /// @throws ServingException `DEADLINE_EXCEEDED` when nothing comes in time, `BAD_INPUT` when the
    ///   connection ends before
    public boolean hasMore() {
        while (!ended) {
            // More may come all the time.
            requireTime();
            if (!await(deadline.nanosLeft())) {
                throw late();
            }
            if (Content.Chunk.isFailure(chunk)) {
                throw ErrorType.BAD_INPUT.because(
                        "body: it can't be read on after %d bytes: the connection ended or its chunks are malformed"
                                .formatted(received),
                        chunk.getFailure());
            }
            if (chunk.hasRemaining()) {
                return true;
            }
            release();
        }
        return false;
    }

    void requireTime() {
        if (deadline.isOver()) {
            throw late();
        }
    }

    private ServingException late() {
        return ErrorType.DEADLINE_EXCEEDED.because(
                "the request's time ran out after %d bytes of its body".formatted(received));
    }

    /// Takes the next bytes, as many as have arrived.
    ///
    /// @throws ServingException as [#hasMore], and `PAYLOAD_TOO_LARGE`
    @Override
    public int read(byte[] bytes, int offset, int length) {
        if (length == 0) {
            return 0;
        }
        if (!hasMore()) {
            return -1;
        }
        int count = Math.min(length, chunk.remaining());
        chunk.getByteBuffer().get(bytes, offset, count);
        received += count;
        if (!chunk.hasRemaining()) {
            release();
        }
        requireWithin(limit, received - receivedBefore);
        return count;
    }

    static void requireWithin(long limit, long found) {
        if (found > limit) {
            throw tooLarge("more than %d bytes".formatted(limit), limit);
        }
    }

    static ServingException tooLarge(String found, long limit) {
        return ErrorType.PAYLOAD_TOO_LARGE.because(
                "body: found %s, expected at most %d; raise --max-payload-mb or SAGEMAKER_MAX_PAYLOAD_IN_MB (0: no limit)"
                        .formatted(found, limit));
    }

    private void release() {
        ended = chunk.isLast();
        chunk.release();
        chunk = null;
    }

    /// Reads what is left and throws it away, as long as it keeps coming: a caller who still writes
    /// would otherwise see a broken connection instead of the answer that says why. It stops at the
    /// deadline. It never throws: the answer has its reason.
    public void discard() {
        if (awaitsWord()) {
            return;
        }
        long stop = System.nanoTime() + Math.min(LONGEST_DISCARD_NANOS, deadline.nanosLeft());
        long most = received + MOST_TO_DISCARD;
        try {
            while (!ended
                    && received < most
                    && stop - System.nanoTime() > 0
                    && await(Math.min(LONGEST_PAUSE_NANOS, stop - System.nanoTime()))
                    && !Content.Chunk.isFailure(chunk)) {
                received += chunk.remaining();
                release();
            }
        } catch (ServingException _) {
            // Its thread is interrupted.
        }
    }

    /// Whether the caller has asked whether to send the body, and was not told yet.
    private boolean awaitsWord() {
        return received == 0 && request.getHeaders().contains(HttpHeader.EXPECT, "100-continue");
    }

    /// Waits until something of the body has arrived, or its end; false: the time is over.
    public boolean await(long nanos) {
        long stop = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !hasArrived(); left = stop - System.nanoTime()) {
            try {
                demanded = !arrival.tryAcquire(left, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw ErrorType.DEADLINE_EXCEEDED.because("the wait for the request's body was interrupted", e);
            }
        }
        return chunk != null;
    }

    /// Asks to be told when more arrives, where nothing has. A caller who waits for the word to send
    /// the body is given it.
    private boolean hasArrived() {
        if (chunk == null && !demanded) {
            chunk = request.read();
            demanded = chunk == null;
            if (demanded) {
                if (awaitsWord()) {
                    // Where it can't be written, no more of the body comes, which the reader sees.
                    var _ = response.writeInterim(HttpStatus.CONTINUE_100, HttpFields.EMPTY);
                }
                request.demand(arrival::release);
            }
        }
        return chunk != null;
    }
}
