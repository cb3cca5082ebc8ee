package dev.berth.batching;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/// A model that answers in upper case, remembers what happened, and obeys some records:
///
/// - `hold` waits until [#release], or for an interrupt; `stuck` waits and takes no notice of one
/// - `poison` throws
/// - `calm` fails when its thread is interrupted
final class FakeModel implements Predictor.Factory<String, String> {

    final List<List<String>> batches = new CopyOnWriteArrayList<>();
    final List<String> events = new CopyOnWriteArrayList<>();

    /// What several models were asked, where it is shared.
    List<String> order = new CopyOnWriteArrayList<>();

    /// Whether it is closed only after [#release].
    volatile boolean holdsClose;

    /// The worker that can't open it.
    int failingToOpen = -1;

    private final CountDownLatch released = new CountDownLatch(1);

    void release() {
        released.countDown();
    }

    @Override
    public Predictor<String, String> open(int worker) {
        events.add("open " + worker);
        if (worker == failingToOpen) {
            throw new IllegalStateException("no model for worker " + worker);
        }
        return new Predictor<>() {
            @Override
            public List<String> predict(List<String> records) throws InterruptedException {
                batches.add(List.copyOf(records));
                order.addAll(records);
                return answer(records, worker);
            }

            @Override
            public void close() {
                if (holdsClose) {
                    beStuck();
                }
                events.add("close " + worker);
            }
        };
    }

    private List<String> answer(List<String> records, int worker) throws InterruptedException {
        for (var record : records) {
            switch (record) {
                case "hold" -> hold(worker);
                case "stuck" -> beStuck();
                case "poison" -> throw new IllegalArgumentException("poison");
                case "calm" -> stayCalm();
                default -> {}
            }
        }
        return records.stream().map(record -> record.toUpperCase(Locale.ROOT)).toList();
    }

    private void hold(int worker) throws InterruptedException {
        try {
            released.await();
        } catch (InterruptedException e) {
            events.add("interrupt %d on %s"
                    .formatted(worker, Thread.currentThread().getName()));
            throw e;
        }
    }

    private void beStuck() {
        while (released.getCount() > 0) {
            try {
                released.await();
            } catch (InterruptedException _) {
                events.add("ignored an interrupt");
            }
        }
    }

    private static void stayCalm() {
        if (Thread.currentThread().isInterrupted()) {
            throw new AssertionError("an interrupt was meant for an earlier batch");
        }
    }
}
