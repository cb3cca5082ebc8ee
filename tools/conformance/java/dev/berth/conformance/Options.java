package dev.berth.conformance;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// What the command line asks for.
final class Options {

    static final String HELP = """
      conformance URL [OPTION]...

      Asks the container at URL, such as http://localhost:8080, what the rows of Berth's docs/internals/contract.md say, as far as that
      can be asked by HTTP. Any container will do, in any language. Its model is to be ready.

        --body FILE         a request that its model answers with 2xx; without one, most rows are not asked
        --type TYPE         its Content-Type (application/json)
        --lines FILE        a request of several records, one a line, for the rows of batch transform
        --lines-type TYPE   its Content-Type (application/jsonlines)
        --model-url PATH    of a multi-model container: the directory of an artifact, as the container sees it; then only
                            PING and MME are asked, if --only says nothing else
        --header NAME:VALUE a header of every request, such as one that logs in; may be given again
        --cacert FILE       for https: certificates to trust, as PEM
        --only IDS          only these rows: groups and ids, such as PING,INV-01
        --except IDS        not these rows
        --skip ID=REASON    not this row, and the report says why; may be given again
        --fail-on MARKS     end with 1 only if a row of these marks was missed: P,A for all but recommendations (P,A,R)
        --timeout S         of one request, in seconds (60)
        --patience N        multiply the limits of time that rows have by N, on a machine that is busy (1)
        --markdown          print the table as Markdown
        --junit FILE        write JUnit's XML too
        --json FILE         write JSON too
        --list              name the rows that can be asked, and end
        -h, --help          print this, and end

      It ends with 1 if a row was missed, and with 2 if it can't ask.
      """;

    private static final Set<String> MARKS = Set.of("P", "A", "R");

    private final Map<String, String> values = new LinkedHashMap<>();
    private final Map<String, String> skipped = new LinkedHashMap<>();
    private final List<String> headers = new ArrayList<>();
    private final boolean markdown;
    private final Set<String> rows;
    private URI url;

    /// @param rows the ids of the rows that can be asked
    Options(List<String> arguments, Set<String> rows) {
        this.rows = rows;
        markdown = arguments.contains("--markdown");
        var rest = arguments.stream()
                .filter(argument -> !argument.equals("--markdown"))
                .iterator();
        while (rest.hasNext()) {
            var name = rest.next();
            if (!name.startsWith("-")) {
                expect(url == null, name + ": expected one URL only");
                url = url(name);
            } else if (!HELP.contains("  " + name + " ") || !rest.hasNext()) {
                throw new IllegalArgumentException(name + ": found no such option with a value; --help lists them");
            } else {
                take(name, rest.next());
            }
        }
        expect(url != null, "URL: found none, expected such as http://localhost:8080");
        for (var name : List.of("--only", "--except")) {
            for (var id : list(name)) {
                expect(
                        rows.stream().anyMatch(row -> names(id, row)),
                        name + ": found \"" + id + "\", which names no row; --list names them");
            }
        }
        for (var mark : list("--fail-on")) {
            expect(MARKS.contains(mark), "--fail-on: found \"" + mark + "\", expected of P, A and R");
        }
    }

    private void take(String name, String value) {
        switch (name) {
            case "--header" -> {
                int colon = value.indexOf(':');
                expect(colon > 0, "--header: found \"" + value + "\", expected NAME:VALUE");
                headers.add(value.substring(0, colon).strip());
                headers.add(value.substring(colon + 1).strip());
            }
            case "--skip" -> {
                var parts = value.split("=", 2);
                expect(parts.length == 2 && !parts[1].isBlank(), "--skip: found \"" + value + "\", expected ID=REASON");
                expect(
                        rows.contains(parts[0]),
                        "--skip: found \"" + parts[0] + "\", which names no row; --list names them");
                skipped.put(parts[0], parts[1]);
            }
            default -> values.put(name, value);
        }
    }

    private static URI url(String text) {
        URI url;
        try {
            url = URI.create(text);
        } catch (IllegalArgumentException e) {
            url = URI.create("");
        }
        expect(
                ("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
                        && url.getHost() != null
                        && url.getQuery() == null,
                "URL: found " + text + ", expected such as http://localhost:8080");
        return url;
    }

    private static void expect(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }

    Container container() throws IOException {
        var sample = new Container.Sample(
                file("--body"),
                values.getOrDefault("--type", "application/json"),
                file("--lines"),
                values.getOrDefault("--lines-type", "application/jsonlines"),
                values.get("--model-url"));
        return new Container(
                url,
                sample,
                new Container.Settings(
                        headers,
                        tls(),
                        Duration.ofMillis((long) (1000 * number("--timeout", 60))),
                        number("--patience", 1)));
    }

    private SSLContext tls() throws IOException {
        var file = file("--cacert");
        try {
            if (file == null) {
                return SSLContext.getDefault();
            }
            var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            try (var in = Files.newInputStream(Path.of(values.get("--cacert")))) {
                for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                    trusted.setCertificateEntry(String.valueOf(trusted.size()), certificate);
                }
            }
            var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            var tls = SSLContext.getInstance("TLS");
            tls.init(null, managers.getTrustManagers(), null);
            return tls;
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("--cacert: found no certificates in PEM: " + e.getMessage(), e);
        }
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
        expect(value == null || Files.isRegularFile(Path.of(value)), name + ": found no file " + value);
        return value == null ? null : Files.readAllBytes(Path.of(value));
    }

    URI url() {
        return url;
    }

    boolean isMarkdown() {
        return markdown;
    }

    /// Where to write a report; null for nowhere.
    Path report(String name) {
        return values.containsKey(name) ? Path.of(values.get(name)) : null;
    }

    boolean asks(String id) {
        var only = list("--only");
        if (only.isEmpty() && values.containsKey("--model-url")) {
            only = List.of("PING", "MME");
        }
        return (only.isEmpty() || only.stream().anyMatch(name -> names(name, id)))
                && list("--except").stream().noneMatch(name -> names(name, id));
    }

    /// Why a row is skipped; null where it is not.
    String skipped(String id) {
        return skipped.get(id);
    }

    /// Whether to miss a row of a mark is a failure.
    boolean failsOn(String mark) {
        var marks = list("--fail-on");
        return marks.isEmpty() || marks.contains(mark.substring(0, 1));
    }

    private List<String> list(String name) {
        return values.containsKey(name)
                ? Arrays.stream(values.get(name).split(",")).map(String::strip).toList()
                : List.of();
    }

    private static boolean names(String groupOrId, String id) {
        return id.equals(groupOrId) || id.startsWith(groupOrId + "-");
    }
}
