package dev.berth.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.Observation;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// The program for `spark-submit --class dev.berth.spark.SparkTransform berth-spark.jar`: reads
/// rows, adds predictions, writes rows.
///
/// Ends with 0 when all rows are written, those with an error included and counted. A job that
/// fails ends with Spark's own message and 1, a wrong option with 2.
@Command(
        name = "SparkTransform",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Adds the predictions of a model artifact to the rows of a table.")
public final class SparkTransform implements Callable<Integer> {

    @Option(
            names = "--model-dir",
            required = true,
            paramLabel = "<dir>",
            description =
                    "The model artifact: s3://bucket/prefix, a path that every executor has, or the name of an archive")
    private String modelDir;

    @Option(
            names = "--input",
            required = true,
            paramLabel = "<path>",
            description = "What Spark reads, such as s3a://bucket/in")
    private String input;

    @Option(
            names = "--output",
            required = true,
            paramLabel = "<path>",
            description = "Where Spark writes; it must not exist")
    private String output;

    @Option(
            names = "--content-type",
            paramLabel = "<type>",
            defaultValue = Berth.DEFAULT_CONTENT_TYPE,
            description =
                    "What rows become for the model: application/jsonlines (default), application/json or text/csv")
    private String contentType;

    @Option(names = "--accept", paramLabel = "<type>", description = "What the model answers; unset, the same type")
    private Optional<String> accept = Optional.empty();

    @Option(
            names = "--input-format",
            paramLabel = "<format>",
            defaultValue = "json",
            description = "json (default), csv, parquet, text, or another format that this Spark has")
    private String inputFormat;

    @Option(
            names = "--input-option",
            paramLabel = "<name=value>",
            description = "For Spark's reader, such as header=true")
    private Map<String, String> inputOptions = Map.of();

    @Option(
            names = "--output-format",
            paramLabel = "<format>",
            defaultValue = "json",
            description = "json (default), csv, parquet, ...")
    private String outputFormat;

    @Option(names = "--output-option", paramLabel = "<name=value>", description = "For Spark's writer")
    private Map<String, String> outputOptions = Map.of();

    @Option(
            names = "--columns",
            split = ",",
            paramLabel = "<name>",
            description = "The columns that the model gets; unset, all")
    private List<String> columns = List.of();

    @Option(
            names = "--payload",
            paramLabel = "<column>",
            description = "A column that holds the records already; value for --input-format text")
    private Optional<String> payload = Optional.empty();

    @Option(
            names = "--schema",
            paramLabel = "<ddl>",
            description = "What answers are read as, such as \"answer STRING, score DOUBLE\"")
    private Optional<String> schema = Optional.empty();

    @Option(
            names = "--output-column",
            paramLabel = "<name>",
            defaultValue = Berth.DEFAULT_OUTPUT,
            description = "The column of predictions (default prediction)")
    private String outputColumn;

    @Option(
            names = "--error-column",
            paramLabel = "<name>",
            defaultValue = Berth.DEFAULT_ERROR,
            description = "The column of what is wrong with a record (default berth_error)")
    private String errorColumn;

    @Option(
            names = "--batch-size",
            paramLabel = "<rows>",
            description = "Rows of a request; unset, what predictFn gets at once")
    private Optional<Integer> batchSize = Optional.empty();

    @Option(
            names = "--partitions",
            paramLabel = "<count>",
            description = "Deals the rows out to so many tasks first; unset, as Spark reads them")
    private Optional<Integer> partitions = Optional.empty();

    @Option(
            names = "--setting",
            paramLabel = "<name=value>",
            description = "A setting of the server, by its environment variable")
    private Map<String, String> settings = Map.of();

    @Option(names = "--overwrite", description = "Replaces what is at --output")
    private boolean overwrite;

    private SparkTransform() {}

    public static void main(String[] args) {
        int code = run(args);
        if (code != CommandLine.ExitCode.OK) {
            System.exit(code);
        }
    }

    /// @return the exit code
    static int run(String... args) {
        return new CommandLine(new SparkTransform()).execute(args);
    }

    @Override
    public Integer call() throws Exception {
        Berth berth;
        try {
            berth = berth();
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
        try (var spark = SparkSession.builder().config(configuration()).getOrCreate()) {
            transform(spark, berth);
        }
        return CommandLine.ExitCode.OK;
    }

    private void transform(SparkSession spark, Berth berth) throws InterruptedException {
        var counts = Observation.apply("berth");
        var read = spark.read().format(inputFormat).options(inputOptions).load(input);
        var rows = partitions.isPresent() ? read.repartition(partitions.get()) : read;
        var answered = rows.transform(berth)
                .observe(
                        counts,
                        count(lit(1)).as("rows"),
                        count(col(errorColumn)).as("errors"));
        var mode = overwrite ? SaveMode.Overwrite : SaveMode.ErrorIfExists;
        answered.write().format(outputFormat).options(outputOptions).mode(mode).save(output);
        var counted = counts.getAsJava();
        System.out.printf(
                "%s rows written to %s, %s of them with an error in %s%n",
                counted.get("rows"), output, counted.get("errors"), errorColumn);
    }

    private Berth berth() {
        var berth = Berth.of(modelDir)
                .contentType(contentType)
                .inputs(columns.toArray(String[]::new))
                .outputColumn(outputColumn)
                .errorColumn(errorColumn);
        if (accept.isPresent()) {
            berth = berth.accept(accept.get());
        }
        var records = payload.or(() -> inputFormat.equals("text") ? Optional.of("value") : Optional.empty());
        if (records.isPresent()) {
            berth = berth.payload(records.get());
        }
        if (schema.isPresent()) {
            berth = berth.schema(schema.get());
        }
        if (batchSize.isPresent()) {
            berth = berth.batchSize(batchSize.get());
        }
        for (var setting : settings.entrySet()) {
            berth = berth.setting(setting.getKey(), setting.getValue());
        }
        return berth;
    }

    /// What spark-submit gives wins.
    private static SparkConf configuration() {
        return new SparkConf()
                .setIfMissing("spark.app.name", "berth")
                // As ./serve sets them for libtorch and the tokenizers.
                .setIfMissing("spark.executorEnv.OMP_WAIT_POLICY", "PASSIVE")
                .setIfMissing("spark.executorEnv.MALLOC_ARENA_MAX", "2")
                .setIfMissing("spark.executorEnv.TOKENIZERS_PARALLELISM", "false");
    }
}
