package dev.berth.conformance;

import dev.berth.conformance.Outcome.Result;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/// Asks any container what SageMaker's contract says of it, from outside: HTTP and nothing else.
public final class Conformance {

    private Conformance() {}

    public static void main(String[] arguments) throws Exception {
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        var err = new PrintStream(System.err, true, StandardCharsets.UTF_8);
        System.exit(run(List.of(arguments), out, err));
    }

    /// @return the exit code: 0, 1 if a row was missed, 2 if it can't ask
    public static int run(List<String> arguments, PrintStream out, PrintStream err)
            throws IOException, InterruptedException {
        if (arguments.isEmpty() || arguments.contains("--help") || arguments.contains("-h")) {
            out.print(Options.HELP);
            return arguments.isEmpty() ? 2 : 0;
        }
        var checks = checks();
        var rows = ContractRow.read();
        rows.keySet().retainAll(checks.keySet());
        if (arguments.contains("--list")) {
            rows.values().forEach(row -> out.println(row.id() + "  " + row.sent()));
            return 0;
        }
        try {
            return ask(new Options(arguments, rows.keySet()), checks, rows, out);
        } catch (IllegalArgumentException | IOException e) {
            err.println("conformance: " + e.getMessage());
            return 2;
        }
    }

    private static Map<String, Check> checks() {
        var checks = new HashMap<String, Check>();
        List.of(
                        PingChecks.all(),
                        InvocationChecks.all(),
                        HeaderChecks.all(),
                        BatchChecks.all(),
                        ModelChecks.all(),
                        TalkChecks.all())
                .forEach(checks::putAll);
        return checks;
    }

    private static int ask(Options options, Map<String, Check> checks, Map<String, ContractRow> rows, PrintStream out)
            throws IOException, InterruptedException {
        var outcomes = new ArrayList<Outcome>();
        var container = options.container();
        try {
            container.get("/ping");
        } catch (IOException e) {
            throw new IOException("nothing answers at " + container.base() + ": " + e, e);
        }
        for (var row : rows.values()) {
            if (options.asks(row.id())) {
                var why = options.skipped(row.id());
                var outcome = why == null
                        ? ask(row, checks.get(row.id()), container)
                        : new Outcome(row, Result.SKIPPED, why, Duration.ZERO);
                outcomes.add(outcome);
                out.println(options.isMarkdown() ? Reports.markdown(outcome) : Reports.plain(outcome));
            }
        }
        if (outcomes.isEmpty()) {
            throw new IllegalArgumentException("--only and --except leave no row; --list names them");
        }
        out.println();
        out.println(Reports.counts(outcomes));
        if (options.report("--junit") != null) {
            Reports.junit(options.report("--junit"), options, outcomes);
        }
        if (options.report("--json") != null) {
            Reports.json(options.report("--json"), options, outcomes);
        }
        boolean fails = outcomes.stream()
                .anyMatch(outcome -> outcome.is(Result.MISSED)
                        && options.failsOn(outcome.row().mark()));
        return fails ? 1 : 0;
    }

    private static Outcome ask(ContractRow row, Check check, Container container) throws InterruptedException {
        long start = System.nanoTime();
        Result result;
        String found;
        try {
            found = check.run(container);
            result = Result.HOLDS;
        } catch (Check.Missed e) {
            found = e.getMessage();
            result = Result.MISSED;
        } catch (Check.NotAsked e) {
            found = e.getMessage();
            result = Result.NOT_ASKED;
        } catch (ExecutionException e) {
            found = "no answer: " + e.getCause();
            result = Result.MISSED;
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            found = "no answer: " + e;
            result = Result.MISSED;
        }
        return new Outcome(row, result, found, Duration.ofNanos(System.nanoTime() - start));
    }
}
