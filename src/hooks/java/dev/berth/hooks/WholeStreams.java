package dev.berth.hooks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Runs streams to their end on the calling thread and keeps their parts.
final class WholeStreams {

    private WholeStreams() {}

    static <M, I, O, S> List<O> predict(StreamingHandler<M, I, O, S> handler, List<I> records, M model)
            throws Exception {
        var parts = parts(handler, records, model);
        var predictions = new ArrayList<O>(records.size());
        for (var record : records) {
            predictions.add(handler.join(record, parts.get(predictions.size())));
        }
        return predictions;
    }

    /// The parts of each record.
    static <M, I, O, S> List<List<O>> parts(StreamingHandler<M, I, O, S> handler, List<I> records, M model)
            throws Exception {
        var streams = new ArrayList<Whole<S, O>>();
        try {
            for (var record : records) {
                streams.add(new Whole<>(handler.beginFn(record, model)));
            }
            var running = List.copyOf(streams);
            while (!running.isEmpty()) {
                handler.stepFn(List.copyOf(running), model);
                for (var stream : running) {
                    if (stream.failure != null) {
                        throw stream.failure;
                    }
                }
                running = running.stream().filter(stream -> !stream.ended).toList();
            }
            return streams.stream().map(stream -> stream.parts).toList();
        } finally {
            for (var stream : streams) {
                if (stream.state instanceof AutoCloseable closeable) {
                    closeable.close();
                }
            }
        }
    }

    private static final class Whole<S, O> implements PartStream<S, O> {

        private final S state;
        private final List<O> parts = new ArrayList<>();
        private boolean ended;
        private Exception failure;

        private Whole(S state) {
            this.state = state;
        }

        @Override
        public S state() {
            return state;
        }

        @Override
        public void emit(O part) {
            if (ended) {
                throw new IllegalStateException("found a part after the end of its stream");
            }
            parts.add(part);
        }

        @Override
        public void end() {
            ended = true;
        }

        @Override
        public void fail(Exception cause) {
            ended = true;
            failure = cause;
        }

        @Override
        public void pause(Duration time) {
            // Nobody else is to be let in.
        }

        @Override
        public boolean isWanted() {
            return !Thread.currentThread().isInterrupted();
        }
    }
}
