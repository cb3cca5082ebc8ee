package dev.berth.reliability;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The table of a run, a line for each case as soon as it has ended.
final class Report {

    private static final String FORMAT = "| %-38s | %7s | %9s | %6s | %5s | %8s | %-32s | %s%n";

    /// The first of them say what there is to know.
    private static final int MOST_MISSED = 10;

    private final List<Row> rows = new ArrayList<>();
    private long lastEnd = System.nanoTime();

    /// What happened in one case. Its methods may be called from several threads.
    static final class Row {
        private final String name;
        private final List<String> missed = new ArrayList<>();
        private final List<String> notes = new ArrayList<>();
        private long requests;
        private long deaths;
        private long wrong;
        private long slowestPing;
        private String resident = "";

        Row(String name) {
            this.name = name;
        }

        synchronized void requests(long more) {
            requests += more;
        }

        synchronized void wrong(long more) {
            wrong += more;
        }

        synchronized void died(String log) {
            deaths++;
            missed("the process ended or was killed; its log ends in\n" + Target.tail(log));
        }

        synchronized void slowestPing(long nanos) {
            slowestPing = Math.max(slowestPing, nanos);
        }

        synchronized void resident(String curve) {
            resident = curve;
        }

        synchronized void note(String text) {
            notes.add(text);
        }

        /// Notes what was found instead, where an expectation does not hold.
        synchronized void expect(String found, boolean holds) {
            if (!holds) {
                missed(found);
            }
        }

        synchronized void missed(String found) {
            if (missed.size() < MOST_MISSED) {
                missed.add(found);
            }
        }

        synchronized boolean isMet() {
            return missed.isEmpty() && wrong == 0;
        }
    }

    static void header() {
        System.out.printf(
                FORMAT, "case", "seconds", "requests", "deaths", "wrong", "/ping ms", "resident MB", "expectation");
        System.out.println("|---|---|---|---|---|---|---|---");
    }

    void add(Row row) {
        rows.add(row);
        long end = System.nanoTime();
        long seconds = Duration.ofNanos(end - lastEnd).toSeconds();
        lastEnd = end;
        System.out.printf(
                FORMAT,
                row.name,
                seconds,
                row.requests,
                row.deaths,
                row.wrong,
                row.slowestPing / 1_000_000,
                row.resident,
                (row.isMet() ? "met" : "MISSED") + "; " + String.join("; ", row.notes));
        if (row.wrong > 0) {
            System.out.println("    wrong answers: " + row.wrong);
        }
        row.missed.forEach(missed -> System.out.println("    " + missed.replace("\n", "\n    ")));
        System.out.flush();
    }

    /// Says how many there were, and gives whether all held.
    boolean end() {
        System.out.printf(
                "%d cases, %d missed%n",
                rows.size(), rows.stream().filter(row -> !row.isMet()).count());
        return rows.stream().allMatch(Row::isMet);
    }
}
