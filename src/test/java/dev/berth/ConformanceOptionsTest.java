package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.ConformanceKit;
import dev.berth.testing.SmallServer;
import dev.berth.testing.SmallServer.Handler;
import dev.berth.testing.SmallServer.Manner;
import dev.berth.testing.SmallServer.Reply;
import dev.berth.testing.TestCertificate;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;

/// The command line of the conformance kit, and the reports that it writes.
@Tag("slow")
class ConformanceOptionsTest {

    @TempDir
    private static Path directory;

    @AutoClose
    private static ConformanceKit kit;

    @BeforeAll
    static void compile() throws Exception {
        kit = new ConformanceKit(Files.createDirectory(directory.resolve("classes")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-h", "--help"})
    void helpListsTheOptions(String option) throws Exception {
        var help = kit.run(option);
        assertThat(help.exitCode()).isZero();
        assertThat(help.out()).contains("conformance URL [OPTION]...", "--skip ID=REASON");
    }

    @Test
    void withoutAnArgumentItIsHelpAndNoSuccess() throws Exception {
        assertThat(kit.run().exitCode()).isEqualTo(2);
        assertThat(kit.run("--list").out()).contains("PING-01  `GET /ping`, model ready");
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
        --only; PING,INV-99; --only: found "INV-99", which names no row; --list names them
        --except; PONG; --except: found "PONG", which names no row; --list names them
        --skip; INV-99=slow; --skip: found "INV-99", which names no row; --list names them
        --skip; INV-01; --skip: found "INV-01", expected ID=REASON
        --fail-on; P,X; --fail-on: found "X", expected of P, A and R
        --header; Authorization; --header: found "Authorization", expected NAME:VALUE
        --timeout; soon; --timeout: found soon, expected a number above 0
        --body; no-such-file; --body: found no file no-such-file
        --cacert; pom.xml; --cacert: found no certificates in PEM
        -x; 1; -x: found no such option with a value; --help lists them
        http://localhost:2; http://localhost:3; http://localhost:2: expected one URL only
        """)
    void whatItDoesNotKnowIsAnError(String option, String value, String message) throws Exception {
        var run = kit.run("http://localhost:1", option, value);
        assertThat(run.err()).contains("conformance: " + message);
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ftp://localhost", "localhost:8080", "http://a b", "http://localhost?x=1"})
    void aUrlIsOfHttp(String url) throws Exception {
        var run = kit.run(url);
        assertThat(run.err())
                .isEqualTo("conformance: URL: found " + url + ", expected such as http://localhost:8080\n");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @Test
    void onlyRowsOfTheMarksThatAreNamedFailIt() throws Exception {
        // A recommendation is missed, and nothing else.
        try (var server = serves(routes(""))) {
            assertThat(kit.run(server.url(), "--only", "PING").exitCode()).isEqualTo(1);
            var run = kit.run(server.url(), "--only", "PING", "--fail-on", "P,A");
            assertThat(run.row("PING-03")).isEqualTo("MISSED 404");
            assertThat(run.exitCode()).isZero();
            assertThat(kit.run(server.url(), "--only", "PING", "--fail-on", "R").exitCode())
                    .isEqualTo(1);
        }
        try (var server = serves(asked -> new Reply(500, "", ""))) {
            assertThat(kit.run(server.url(), "--only", "PING-01", "--fail-on", "P")
                            .exitCode())
                    .isEqualTo(1);
        }
    }

    @Test
    void aRowThatIsSkippedSaysWhyAndFailsNothing() throws Exception {
        try (var server = serves(routes(""))) {
            var run = kit.run(server.url(), "--only", "PING-01,PING-03", "--skip", "PING-03=POST is closed = ok");
            assertThat(run.exitCode()).isZero();
            assertThat(run.row("PING-03")).isEqualTo("skipped POST is closed = ok");
            assertThat(run.out()).contains("holds: 1, missed: 0, not asked: 0, skipped: 1");
        }
    }

    @Test
    void theUrlsPathStandsBeforeEveryPath() throws Exception {
        try (var server = serves(routes("/endpoints/m"))) {
            for (var url : List.of("/endpoints/m", "/endpoints/m/")) {
                var run = kit.run(server.url() + url, "--only", "PING-01,PING-11,PING-10");
                assertThat(run.out()).contains("holds: 3, missed: 0");
            }
            assertThat(kit.run(server.url(), "--only", "PING-01").row("PING-01"))
                    .isEqualTo("MISSED 404");
        }
    }

    @Test
    void headersAreOfEveryRequest() throws Exception {
        Handler closed = asked -> asked.header("Authorization").equals("Bearer a:b")
                        && asked.header("X-Team").equals("1")
                ? new Reply(200, "", "")
                : new Reply(401, "", "");
        try (var server = serves(closed)) {
            var run = kit.run(
                    server.url(),
                    "--only",
                    "PING-01,PING-10,PING-11",
                    "--header",
                    "Authorization: Bearer a:b",
                    "--header",
                    "X-Team:1");
            assertThat(run.out()).contains("holds: 3, missed: 0");
            assertThat(kit.run(server.url(), "--only", "PING-01").row("PING-01"))
                    .isEqualTo("MISSED 401");
        }
    }

    @Test
    void theHostIsThatOfTheUrlOrOfAHeader() throws Exception {
        var hosts = new ArrayList<String>();
        Handler remembers = asked -> {
            hosts.add(asked.header("Host"));
            return new Reply(200, "", "");
        };
        try (var server = serves(remembers)) {
            kit.run(server.url(), "--only", "PING-01");
            kit.run(server.url(), "--only", "PING-01", "--header", "Host: model.example");
            assertThat(hosts).containsOnly("127.0.0.1:" + server.port(), "model.example");
        }
    }

    @Test
    void httpsIsAskedToo() throws Exception {
        var made = TestCertificate.of("EC", directory);
        var certificate =
                Files.writeString(directory.resolve("server.pem"), made.pem()).toString();
        try (var server =
                new SmallServer(Manner.KEEPS_CONNECTIONS, made.shown().getServerSocketFactory(), routes(""))) {
            var url = "https://127.0.0.1:" + server.port();
            var run = kit.run(url, "--only", "PING-01,PING-07,PING-11", "--cacert", certificate);
            assertThat(run.out()).contains("holds: 3, missed: 0");
            var stranger = kit.run(url, "--only", "PING-01");
            assertThat(stranger.exitCode()).isEqualTo(2);
            assertThat(stranger.err()).contains("nothing answers at " + url, "SSLHandshakeException");
        }
    }

    @Test
    void reportsSayWhatTheExitCodeSays() throws Exception {
        var junit = directory.resolve("report.xml");
        var json = directory.resolve("report.json");
        Handler odd = asked -> asked.path().equals("/ping")
                ? new Reply(asked.method().equals("GET") ? 200 : 405, "", "")
                : new Reply(500, "text/plain", "<a & \"b\"\u0001>");
        try (var server = serves(odd)) {
            var run = kit.run(
                    server.url(),
                    "--only",
                    "PING-01,PING-03,INV-02,INV-03,INV-01,MME-21",
                    "--fail-on",
                    "P,A",
                    "--skip",
                    "MME-21=no models",
                    "--junit",
                    junit.toString(),
                    "--json",
                    json.toString());
            assertThat(run.exitCode()).isEqualTo(1);
        }

        var suite = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(junit.toFile())
                .getDocumentElement();
        assertThat(suite.getAttribute("tests")).isEqualTo("6");
        // INV-03 alone: INV-02 and PING-03 are recommendations.
        assertThat(suite.getAttribute("failures")).isEqualTo("1");
        assertThat(suite.getAttribute("skipped")).isEqualTo("4");
        var failure = (Element) suite.getElementsByTagName("failure").item(0);
        assertThat(((Element) failure.getParentNode()).getAttribute("name")).isEqualTo("INV-03 unknown path");
        assertThat(failure.getAttribute("message")).isEqualTo("500 <a & \"b\"\ufffd>");

        var report = new ObjectMapper().readTree(json.toFile());
        assertThat(report.get("holds").asInt()).isEqualTo(1);
        assertThat(report.get("missed").asInt()).isEqualTo(3);
        assertThat(report.get("notAsked").asInt()).isEqualTo(1);
        assertThat(report.get("skipped").asInt()).isEqualTo(1);
        assertThat(report.get("rows")).anySatisfy(row -> {
            assertThat(row.get("row").asText()).isEqualTo("INV-03");
            assertThat(row.get("mark").asText()).isEqualTo("A");
            assertThat(row.get("result").asText()).isEqualTo("missed");
            assertThat(row.get("found").asText()).isEqualTo("500 <a & \"b\"\u0001>");
        });
    }

    private static SmallServer serves(Handler handler) throws Exception {
        return new SmallServer(Manner.KEEPS_CONNECTIONS, handler);
    }

    /// `GET /ping` below a path.
    private static Handler routes(String path) {
        return asked ->
                new Reply(asked.method().equals("GET") && asked.path().equals(path + "/ping") ? 200 : 404, "", "");
    }
}
