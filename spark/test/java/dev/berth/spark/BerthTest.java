package dev.berth.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.to_json;
import static org.apache.spark.sql.functions.when;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/// With two executors, each a process of its own, that get the jar as those of a cluster do.
class BerthTest {

    private static final Duration LONG = Duration.ofMinutes(2);
    private static final String MODEL =
            Path.of("model-artifact").toAbsolutePath().toString();

    @TempDir
    static Path directory;

    private static final TransientNio2BlobStore BUCKETS = new TransientNio2BlobStore();

    private static S3Proxy s3;
    private static SparkSession spark;

    @BeforeAll
    static void startExecutors() throws Exception {
        s3 = S3Proxy.builder()
                .blobStore(BUCKETS)
                .endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(AuthenticationType.AWS_V4, "berth", "secret")
                .stopTimeout(0)
                .build();
        s3.start();
        lengths("packed");
        var archive = directory.resolve("packed.tar.gz");
        assertThat(new ProcessBuilder(
                                "tar",
                                "-czf",
                                archive.toString(),
                                "-C",
                                directory.resolve("packed").toString(),
                                ".")
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
        spark = SparkSession.builder()
                .master("local-cluster[2,1,1024]")
                .appName("BerthTest")
                .config(
                        "spark.jars",
                        Path.of("target/spark/berth-spark.jar").toAbsolutePath().toString())
                .config("spark.executor.cores", "1")
                .config("spark.ui.enabled", "false")
                .config("spark.executorEnv.JAVA_HOME", System.getProperty("java.home"))
                .config("spark.archives", archive + "#unpacked")
                .config("spark.executorEnv.AWS_ENDPOINT_URL_S3", "http://127.0.0.1:" + s3.getPort())
                .config("spark.executorEnv.AWS_REGION", "us-east-1")
                .config("spark.executorEnv.AWS_ACCESS_KEY_ID", "berth")
                .config("spark.executorEnv.AWS_SECRET_ACCESS_KEY", "secret")
                .getOrCreate();
        await().atMost(LONG).until(() -> spark.sparkContext().statusTracker().getExecutorInfos().length, is -> is == 3);
    }

    @AfterAll
    static void stopExecutors() throws Exception {
        spark.stop();
        s3.stop();
    }

    @Test
    void aRowGetsItsAnswerOrWhatIsWrongWithIt() throws IOException {
        var rows = texts(
                40,
                when(col("id").equalTo(3), lit(null))
                        .when(col("id").equalTo(5), lit("rejected"))
                        .otherwise(concat(lit("text "), col("id"))),
                4);

        var answers = answers(
                rows.transform(Berth.of(lengths("answers")).inputs("text").schema("length INT")));

        assertThat(answers).hasSize(40).element(12).hasToString("[12,text 12,[7],null]");
        assertThat(answers.get(3).isNullAt(2)).isTrue();
        assertThat(answers.get(3).getString(3)).contains("text: expected a text");
        assertThat(answers.get(5).getString(3)).contains("text: found one that is rejected");
        assertThat(answers.stream().filter(row -> row.isNullAt(3))).hasSize(38).noneMatch(row -> row.isNullAt(2));
    }

    @Test
    void anExecutorLoadsAnArtifactOnce() throws IOException {
        var artifact = lengths("once");
        var rows = texts(64, lit("text"), 16);

        assertThat(answers(rows.transform(Berth.of(artifact).batchSize(2)))).hasSize(64);
        assertThat(answers(rows.transform(Berth.of(artifact).batchSize(5)))).hasSize(64);

        for (var log : logs()) {
            assertThat(Files.readAllLines(log, StandardCharsets.UTF_8))
                    .as(log.toString())
                    .filteredOn(line -> line.contains("loaded " + artifact + " "))
                    .hasSizeLessThanOrEqualTo(1);
        }
        assertThat(logs()).anyMatch(log -> holds(log, "loaded " + artifact + " "));
    }

    @Test
    void aKilledExecutorCostsNoRow() throws Exception {
        var artifact = lengths("killed");
        var rows = texts(60, when(col("id").equalTo(31), lit("held")).otherwise(concat(lit("text "), col("id"))), 6);
        Files.writeString(Path.of(artifact, "go"), "");
        var expected = answers(rows.transform(Berth.of(artifact).batchSize(4)));
        try (var held = Files.newDirectoryStream(Path.of(artifact), "held-by-*")) {
            for (var file : held) {
                Files.delete(file);
            }
        }
        Files.delete(Path.of(artifact, "go"));

        var found = CompletableFuture.supplyAsync(
                () -> answers(rows.transform(Berth.of(artifact).batchSize(4))));
        var executor = await().atMost(LONG)
                .until(() -> holder(artifact), Optional::isPresent)
                .orElseThrow();
        assertThat(executor.destroyForcibly()).isTrue();
        executor.onExit().join();
        Files.writeString(Path.of(artifact, "go"), "");

        assertThat(found.join()).hasSize(60).isEqualTo(expected);
        assertThat(Path.of(artifact, "held-by-" + executor.pid())).exists();
    }

    private static Optional<ProcessHandle> holder(String artifact) throws IOException {
        try (var files = Files.list(Path.of(artifact))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("held-by-"))
                    .map(name -> Long.parseLong(name.substring("held-by-".length())))
                    .findFirst()
                    .flatMap(ProcessHandle::of);
        }
    }

    @Test
    void rowsAreCsvIfTheModelReadsIt() {
        var rows = questions();

        var answers = answers(rows.transform(Berth.of(MODEL)
                .contentType("text/csv")
                .inputs("question", "context")
                .schema("answer STRING, score DOUBLE, start INT, end INT")));

        assertThat(answers).extracting(row -> row.getString(4)).containsOnlyNulls();
        assertThat(answers).extracting(row -> row.getStruct(3).getString(0)).containsExactly("Warsaw", "Paris");
    }

    @Test
    void aRowIsARequestOfJson() throws IOException {
        var rows = texts(5, concat(lit("text "), col("id")), 1);

        var answers = answers(rows.transform(
                Berth.of(lengths("json")).contentType("application/json").outputColumn("found")));

        assertThat(answers)
                .extracting(row -> row.<String>getAs("found"))
                .containsOnly("{\"length\":6}")
                .hasSize(5);
    }

    @Test
    void aColumnMayHoldRecordsAlready() throws IOException {
        var rows = texts(4, lit("text"), 1)
                .withColumn(
                        "line",
                        when(col("id").equalTo(1), lit(null))
                                .when(col("id").equalTo(2), lit("{\"text\":\n\"a\"}"))
                                .otherwise(to_json(struct(col("text")))));

        var answers = answers(
                rows.transform(Berth.of(lengths("payload")).payload("line").errorColumn("wrong")));

        assertThat(answers)
                .extracting(row -> row.<String>getAs("prediction"))
                .containsExactly("{\"length\":4}", null, null, "{\"length\":4}");
        assertThat(answers.get(1).<String>getAs("wrong"))
                .isEqualTo("record: found null, expected one of application/jsonlines");
        assertThat(answers.get(2).<String>getAs("wrong"))
                .isEqualTo("record: found several lines, expected a record on one line");
    }

    @Test
    void anArtifactComesFromS3() throws IOException {
        BUCKETS.createContainer("models");
        var hook = Files.readAllBytes(Path.of(lengths("uploaded"), "code", "Inference.java"));
        var object = PutObjectRequest.builder()
                .bucket("models")
                .key("lengths/code/Inference.java")
                .contentLength((long) hook.length);
        BUCKETS.putBlob(object.build(), new ByteArrayInputStream(hook));

        assertThat(answers(texts(3, lit("text"), 1).transform(Berth.of("s3a://models/lengths"))))
                .extracting(row -> row.getString(2))
                .containsOnly("{\"length\":4}");
        assertThatThrownBy(() -> answers(texts(1, lit("text"), 1).transform(Berth.of("s3://models/length"))))
                .hasStackTraceContaining("model artifact s3://models/length: found no objects below it");
    }

    @Test
    void anArtifactComesInAnArchive() {
        assertThat(answers(texts(3, lit("text"), 1).transform(Berth.of("unpacked"))))
                .extracting(row -> row.getString(2))
                .containsOnly("{\"length\":4}");
    }

    @Test
    void anAnswerOfAnotherSchemaIsAnError() throws IOException {
        var answers = answers(
                texts(1, lit("text"), 1).transform(Berth.of(lengths("schema")).schema("length BOOLEAN")));

        assertThat(answers.getFirst().isNullAt(2)).isTrue();
        assertThat(answers.getFirst().getString(3)).isEqualTo("answer: found {\"length\":4}, expected length BOOLEAN");
    }

    @Test
    void aModelThatFailsFailsTheJob() throws IOException {
        var broken = texts(2, lit("broken"), 1).transform(Berth.of(lengths("broken")));
        assertThatThrownBy(() -> answers(broken)).hasStackTraceContaining("the model is broken");

        var nowhere = texts(2, lit("text"), 1).transform(Berth.of("nowhere"));
        assertThatThrownBy(() -> answers(nowhere))
                .hasStackTraceContaining("model artifact nowhere: found no such directory on this executor");

        var wrongType = texts(2, lit("text"), 1)
                .transform(Berth.of(lengths("wrong-type")).contentType("text/csv"));
        assertThatThrownBy(() -> answers(wrongType))
                .hasStackTraceContaining("contentType: found \"text/csv\", expected one of the model's");
    }

    @Test
    void whatIsWrongBeforeTheJobIsSaidBeforeIt() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Berth.of(" "))
                .withMessage("artifact: found nothing, expected the directory of a model artifact");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Berth.of(MODEL).contentType("image/png"))
                .withMessageStartingWith("contentType: found \"image/png\", expected ");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Berth.of(MODEL).batchSize(0))
                .withMessage("batchSize: found 0, expected 1 or more");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> questions().transform(Berth.of(MODEL).outputColumn("context")))
                .withMessage("column context: found it in the rows, expected another name for outputColumn");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> questions()
                        .transform(
                                Berth.of(MODEL).contentType("application/json").accept("text/csv")))
                .withMessageStartingWith("accept: found \"text/csv\" for requests of application/json");
    }

    private static Dataset<Row> questions() {
        return spark.sql("""
        SELECT * FROM VALUES (0, 'Where was Marie Curie born?', 'Marie Curie was born in Warsaw.'),
        (1, 'Where did she work?', 'She worked in Paris, "the city".') AS t(id, question, context)""");
    }

    private static Dataset<Row> texts(int count, Column text, int partitions) {
        return spark.range(0, count, 1, partitions).toDF("id").withColumn("text", text);
    }

    private static List<Row> answers(Dataset<Row> rows) {
        return rows.orderBy("id").collectAsList();
    }

    /// A copy of the artifact, which executors load as one of its own.
    private static String lengths(String name) throws IOException {
        var code = directory.resolve(name).resolve("code");
        Files.createDirectories(code);
        Files.copy(Path.of("spark/test/resources/lengths/code/Inference.java"), code.resolve("Inference.java"));
        return directory.resolve(name).toString();
    }

    private static List<Path> logs() throws IOException {
        try (var files = Files.walk(Path.of(
                System.getenv("SPARK_HOME"), "work", spark.sparkContext().applicationId()))) {
            return files.filter(file -> file.endsWith("stderr")).toList();
        }
    }

    private static boolean holds(Path log, String text) {
        try {
            return Files.readString(log, StandardCharsets.UTF_8).contains(text);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
