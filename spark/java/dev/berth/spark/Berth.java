package dev.berth.spark;

import static org.apache.spark.sql.functions.coalesce;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.when;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/// Adds the predictions of a model artifact to rows, with the artifact's hooks:
///
/// ```java
/// var answers = questions.transform(Berth.of("s3://bucket/model").inputs("question", "context"));
/// ```
///
/// 1. The input columns of a row become a record of the content type.
/// 2. Each executor loads the artifact once. Its tasks send it requests of as many records as
///    `predictFn` gets at once.
/// 3. The answer comes into the column `prediction`, as text or, with a [schema][#schema], as a
///    struct.
/// 4. Where a record is bad, the reason comes into the column `berth_error`, and the prediction is
///    null. If a hook or the model fails, the task fails, and Spark tries it again.
///
/// Rows keep their columns and their partitions. Each method gives a new object.
public final class Berth extends AbstractFunction1<Dataset<Row>, Dataset<Row>> {

    /// The content type where none is given.
    public static final String DEFAULT_CONTENT_TYPE = "application/jsonlines";

    public static final String DEFAULT_OUTPUT = "prediction";
    public static final String DEFAULT_ERROR = "berth_error";

    private static final String RECORD = "_berth_record";
    private static final String UNREADABLE = "_berth_unreadable";

    private final String artifact;
    private List<String> inputs = List.of();
    private Optional<String> payload = Optional.empty();
    private String contentType = DEFAULT_CONTENT_TYPE;
    private Optional<String> accept = Optional.empty();
    private String output = DEFAULT_OUTPUT;
    private String error = DEFAULT_ERROR;
    private Optional<StructType> schema = Optional.empty();
    private int batchSize;
    private int cores;
    private Map<String, String> settings = Map.of();

    private Berth(String artifact) {
        this.artifact = artifact;
    }

    private Berth(Berth other) {
        this.artifact = other.artifact;
        this.inputs = other.inputs;
        this.payload = other.payload;
        this.contentType = other.contentType;
        this.accept = other.accept;
        this.output = other.output;
        this.error = other.error;
        this.schema = other.schema;
        this.batchSize = other.batchSize;
        this.cores = other.cores;
        this.settings = other.settings;
    }

    /// @param artifact the directory of a model artifact: `s3://bucket/prefix`, a path that every
    ///   executor has, or the name behind the `#` of `spark-submit --archives model.tar.gz#model`
    public static Berth of(String artifact) {
        if (artifact.isBlank()) {
            throw new IllegalArgumentException("artifact: found nothing, expected the directory of a model artifact");
        }
        return new Berth(artifact);
    }

    /// The columns that are sent. Unset, all columns.
    public Berth inputs(String... columns) {
        var changed = new Berth(this);
        changed.inputs = List.of(columns);
        return changed;
    }

    /// A column of text that holds the records already, and is sent unchanged.
    public Berth payload(String column) {
        var changed = new Berth(this);
        changed.payload = Optional.of(column);
        return changed;
    }

    /// `application/jsonlines`, `application/json` with one row in each request, or `text/csv`.
    public Berth contentType(String type) {
        RecordForm.of(type, "contentType");
        var changed = new Berth(this);
        changed.contentType = type;
        return changed;
    }

    /// The content type of the answers. Unset, that of the requests.
    public Berth accept(String type) {
        RecordForm.of(type, "accept");
        var changed = new Berth(this);
        changed.accept = Optional.of(type);
        return changed;
    }

    /// The column of the predictions. Unset, `prediction`.
    public Berth outputColumn(String name) {
        var changed = new Berth(this);
        changed.output = name;
        return changed;
    }

    /// The column of what is wrong with a record. Unset, `berth_error`.
    public Berth errorColumn(String name) {
        var changed = new Berth(this);
        changed.error = name;
        return changed;
    }

    /// What the answers are read as, such as `answer STRING, score DOUBLE`. Unset, predictions are
    /// text.
    public Berth schema(String ddl) {
        var changed = new Berth(this);
        changed.schema = Optional.of(StructType.fromDDL(ddl));
        return changed;
    }

    /// The rows of a request. Unset, as many as `predictFn` gets at once.
    public Berth batchSize(int rows) {
        var changed = new Berth(this);
        changed.batchSize = atLeastOne("batchSize", rows);
        return changed;
    }

    /// The cores that the model may use in an executor. Unset, `spark.executor.cores`.
    public Berth cores(int count) {
        var changed = new Berth(this);
        changed.cores = atLeastOne("cores", count);
        return changed;
    }

    /// A setting of the server by the name of its environment variable, such as
    /// `BERTH_MAX_BATCH_SIZE`.
    public Berth setting(String name, String value) {
        var changed = new Berth(this);
        changed.settings = new TreeMap<>(settings);
        changed.settings.put(name, value);
        return changed;
    }

    @Override
    public Dataset<Row> apply(Dataset<Row> rows) {
        var requests = RecordForm.of(contentType, "contentType");
        var answers = RecordForm.of(accept.orElse(contentType), "accept");
        if ((requests == RecordForm.JSON) != (answers == RecordForm.JSON)) {
            throw new IllegalArgumentException(
                    "accept: found \"%s\" for requests of %s, expected a type that has as many records"
                            .formatted(accept.orElse(contentType), contentType));
        }
        for (var name : List.of(output, error)) {
            if (Arrays.asList(rows.columns()).contains(name)) {
                throw new IllegalArgumentException("column %s: found it in the rows, expected another name for %s"
                        .formatted(name, name.equals(output) ? "outputColumn" : "errorColumn"));
            }
        }
        var terms = new Terms(artifact, settings, cores, contentType, accept.orElse(contentType), batchSize);
        var columns = rows.schema().add(output, DataTypes.StringType).add(error, DataTypes.StringType);
        var predicted = rows.withColumn(RECORD, record(rows, requests))
                .mapPartitions(new Predictions(terms), Encoders.row(columns));
        return schema.isPresent() ? read(predicted, answers, schema.get()) : predicted;
    }

    private Column record(Dataset<Row> rows, RecordForm form) {
        if (payload.isPresent()) {
            return rows.col(payload.get());
        }
        var names = inputs.isEmpty()
                ? Arrays.stream(rows.columns()).map(Berth::quoted).toList()
                : inputs;
        return form.write(struct(names.stream().map(rows::col).toArray(Column[]::new)));
    }

    /// Spark reads an answer that is not of the schema as nulls; here it is an error.
    private Dataset<Row> read(Dataset<Row> predicted, RecordForm form, StructType type) {
        var reading = form.read(
                col(quoted(output)),
                type.add(UNREADABLE, DataTypes.StringType),
                Map.of("mode", "PERMISSIVE", "columnNameOfCorruptRecord", UNREADABLE));
        var unreadable = col(quoted(output)).getField(UNREADABLE);
        var problem = when(
                unreadable.isNotNull(), concat(lit("answer: found "), unreadable, lit(", expected " + type.toDDL())));
        var dropped = CollectionConverters.asScala(List.of(UNREADABLE)).toSeq();
        var columns = new ArrayList<Column>();
        for (var name : predicted.columns()) {
            columns.add(
                    name.equals(output)
                            ? when(unreadable.isNull(), col(quoted(output)).dropFields(dropped))
                                    .as(output)
                            : name.equals(error)
                                    ? coalesce(col(quoted(error)), problem).as(error)
                                    : col(quoted(name)));
        }
        return predicted.withColumn(output, reading).select(columns.toArray(Column[]::new));
    }

    private static String quoted(String name) {
        return "`" + name.replace("`", "``") + "`";
    }

    private static int atLeastOne(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException("%s: found %d, expected 1 or more".formatted(name, value));
        }
        return value;
    }
}
