package dev.berth.conformance;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/// Asks any container what SageMaker's contract says of it, from outside: HTTP and nothing else.
public final class Conformance {

  private static final String HELP =
      """
      ./conformance URL [OPTION]...

      Asks the container at URL, such as http://localhost:8080, what the rows of docs/contract.md say, as far as that can be
      asked by HTTP. Any container will do, in any language. Its model is to be ready.

        --body FILE         a request that its model answers with 2xx; without one, most rows are not asked
        --type TYPE         its Content-Type (application/json)
        --lines FILE        a request of several records, one a line, for the rows of batch transform
        --lines-type TYPE   its Content-Type (application/jsonlines)
        --model-url PATH    of a multi-model container: the directory of an artifact, as the container sees it; then only
                            PING and MME are asked, if --only says nothing else
        --only IDS          only these rows: groups and ids, such as PING,INV-01
        --except IDS        not these rows
        --timeout S         of one request, in seconds (60)
        --patience N        multiply the limits of time that rows have by N, on a machine that is busy (1)
        --markdown          print the table as Markdown
        --list              name the rows that can be asked, and end

      It ends with 1 if a row was missed, and with 2 if it can't ask.
      """;

  private enum Result {
    HOLDS,
    MISSED,
    NOT_ASKED
  }

  /// What came of one row.
  private record Outcome(ContractRow row, Result result, String found) {}

  private Conformance() {}

  public static void main(String[] arguments) throws Exception {
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    var list = List.of(arguments);
    if (list.isEmpty() || list.contains("--help")) {
      out.print(HELP);
      System.exit(list.isEmpty() ? 2 : 0);
    }
    var checks = checks();
    var rows = ContractRow.read(Path.of(System.getProperty("conformance.rows")));
    if (list.contains("--list")) {
      rows.values().stream()
          .filter(row -> checks.containsKey(row.id()))
          .forEach(row -> out.println(row.id() + "  " + row.sent()));
      return;
    }
    try {
      System.exit(run(new Options(list), checks, rows, out) ? 0 : 1);
    } catch (IllegalArgumentException | IOException e) {
      System.err.println("conformance: " + e.getMessage());
      System.exit(2);
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

  private static boolean run(
      Options options, Map<String, Check> checks, Map<String, ContractRow> rows, PrintStream out)
      throws IOException, InterruptedException {
    var outcomes = new ArrayList<Outcome>();
    var container = options.container();
    try {
      container.get("/ping");
    } catch (IOException e) {
      throw new IOException("nothing answers at " + container.base() + ": " + e);
    }
    for (var row : rows.values()) {
      if (checks.containsKey(row.id()) && options.asks(row.id())) {
        var outcome = ask(row, checks.get(row.id()), container);
        outcomes.add(outcome);
        out.println(options.markdown ? markdown(outcome) : plain(outcome));
      }
    }
    if (outcomes.isEmpty()) {
      throw new IllegalArgumentException("--only and --except leave no row; --list names them");
    }
    long missed = outcomes.stream().filter(outcome -> outcome.result == Result.MISSED).count();
    long holds = outcomes.stream().filter(outcome -> outcome.result == Result.HOLDS).count();
    out.println();
    out.println(
        "holds: %d, missed: %d, not asked: %d"
            .formatted(holds, missed, outcomes.size() - holds - missed));
    return missed == 0;
  }

  private static Outcome ask(ContractRow row, Check check, Container container)
      throws InterruptedException {
    try {
      return new Outcome(row, Result.HOLDS, check.run(container));
    } catch (Check.Missed e) {
      return new Outcome(row, Result.MISSED, e.getMessage());
    } catch (Check.NotAsked e) {
      return new Outcome(row, Result.NOT_ASKED, e.getMessage());
    } catch (ExecutionException e) {
      return new Outcome(row, Result.MISSED, "no answer: " + e.getCause());
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      return new Outcome(row, Result.MISSED, "no answer: " + e);
    }
  }

  private static String plain(Outcome outcome) {
    var word =
        switch (outcome.result) {
          case HOLDS -> "holds    ";
          case MISSED -> "MISSED   ";
          case NOT_ASKED -> "not asked";
        };
    var row = outcome.row;
    var line = "%-8s %-2s  %s  %s".formatted(row.id(), row.mark(), word, outcome.found);
    var indent = "\n" + " ".repeat(24);
    return outcome.result == Result.MISSED
        ? "%s%ssent: %s%sexpected: %s (%s)"
            .formatted(line, indent, row.sent(), indent, row.expected(), row.source())
        : line;
  }

  private static String markdown(Outcome outcome) {
    var word =
        switch (outcome.result) {
          case HOLDS -> "holds";
          case MISSED -> "**missed**";
          case NOT_ASKED -> "not asked";
        };
    var row = outcome.row;
    return "| %s | %s | %s | %s | %s | %s |"
        .formatted(
            row.id(),
            row.mark(),
            row.expected(),
            row.source(),
            word,
            outcome.found.replace("|", "\\|").replace("<", "&lt;"));
  }

  /// What the command line asks for.
  private static final class Options {
    private final Map<String, String> values = new HashMap<>();
    private final boolean markdown;
    private URI url;

    Options(List<String> arguments) {
      markdown = arguments.contains("--markdown");
      var rest = arguments.stream().filter(argument -> !argument.equals("--markdown")).iterator();
      while (rest.hasNext()) {
        var name = rest.next();
        if (!name.startsWith("--")) {
          url = URI.create(name);
        } else if (!HELP.contains("  " + name + " ") || !rest.hasNext()) {
          throw new IllegalArgumentException(
              name + ": found no such option with a value; --help lists them");
        } else {
          values.put(name, rest.next());
        }
      }
      if (url == null || !"http".equals(url.getScheme()) || url.getHost() == null) {
        throw new IllegalArgumentException(
            "URL: found " + url + ", expected such as http://localhost:8080");
      }
    }

    Container container() throws IOException {
      var sample =
          new Container.Sample(
              file("--body"),
              values.getOrDefault("--type", "application/json"),
              file("--lines"),
              values.getOrDefault("--lines-type", "application/jsonlines"),
              values.get("--model-url"));
      return new Container(
          url, sample, Duration.ofSeconds((long) number("--timeout", 60)), number("--patience", 1));
    }

    private double number(String name, double otherwise) {
      var value = values.get(name);
      try {
        double number = value == null ? otherwise : Double.parseDouble(value);
        if (number > 0) {
          return number;
        }
      } catch (NumberFormatException e) {
        // Said below.
      }
      throw new IllegalArgumentException(name + ": found " + value + ", expected a number above 0");
    }

    private byte[] file(String name) throws IOException {
      var value = values.get(name);
      if (value != null && !Files.isRegularFile(Path.of(value))) {
        throw new IllegalArgumentException(name + ": found no file " + value);
      }
      return value == null ? null : Files.readAllBytes(Path.of(value));
    }

    boolean asks(String id) {
      var only =
          values.getOrDefault("--only", values.containsKey("--model-url") ? "PING,MME" : null);
      return (only == null || names(only, id)) && !names(values.getOrDefault("--except", ""), id);
    }

    private static boolean names(String groupsAndIds, String id) {
      return Arrays.stream(groupsAndIds.split(","))
          .anyMatch(one -> id.equals(one) || id.startsWith(one + "-"));
    }
  }
}
