package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.BatchStrategy;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/// A batch-transform job, in the words of `CreateTransformJob`.
///
/// @param given the options that the job names
public record TransformJob(
        ObjectSource source,
        Location output,
        JobKind kind,
        Invocations invocations,
        JobReader.Part part,
        Set<JobOption> given) {

    /// More connections than any machine has.
    private static final int MOST_CONCURRENT = 10_000;

    private static final int DEFAULT_PAYLOAD_IN_MB = 6;

    /// Such records are lines, each a request of its own.
    private static final Splitting OF_ENVELOPES = new Splitting(SplitType.LINE, BatchStrategy.SINGLE_RECORD, 0);

    private static final String SAGEMAKER = "sagemaker";

    private static final List<Object> FORMATS = List.of(SAGEMAKER, Envelope.BEDROCK, Envelope.OPENAI);

    /// How the container is asked.
    ///
    /// @param maxConcurrent requests at the same time; 0: as the container says, else 1
    /// @param patience how long the container may be away
    /// @param maxFailures how many objects and records may fail before the job ends
    /// @param environment for a server of the runner's own
    record Invocations(
            int maxConcurrent,
            Duration timeout,
            int retries,
            Duration patience,
            long maxFailures,
            Map<String, String> environment) {

        Invocations {
            environment = Map.copyOf(environment);
        }

        /// @param container what it answers to `/execution-parameters`
        int concurrent(JsonNode container) {
            var said = container.path("MaxConcurrentTransforms");
            return Math.clamp(
                    maxConcurrent > 0 ? maxConcurrent : said.isInt() ? said.intValue() : 1, 1, MOST_CONCURRENT);
        }
    }

    public TransformJob {
        given = Set.copyOf(given);
    }

    /// Makes a job of what was said of it.
    ///
    /// @param environment for a server of the runner's own
    /// @throws dev.berth.config.ConfigurationException with everything that is wrong
    public static TransformJob read(Storage storage, Map<JobOption, String> options, Map<String, String> environment) {
        var reader = new JobReader(storage, options);
        var kind = kind(reader);
        var output = reader.location(JobOption.OUTPUT);
        output.ifPresent(place -> reader.requireNoInput(JobOption.OUTPUT, place, place.resolve(".out")));
        var source = new ObjectSource(
                storage,
                reader.input().orElse(null),
                reader.isSecond(JobOption.DATA_TYPE, "S3Prefix", "ManifestFile"),
                reader.isSecond(JobOption.COMPRESSION_TYPE, "None", "Gzip"));
        var invocations = new Invocations(
                reader.number(JobOption.MAX_CONCURRENT_TRANSFORMS, 0, Integer.MAX_VALUE)
                        .orElse(0),
                Duration.ofSeconds(
                        reader.number(JobOption.INVOCATIONS_TIMEOUT, 1, 3600).orElse(600)),
                reader.number(JobOption.INVOCATIONS_MAX_RETRIES, 0, 3).orElse(3),
                Duration.ofSeconds(reader.number(JobOption.PATIENCE, 0, 86_400).orElse(60)),
                reader.quota(JobOption.MAX_FAILURES, 0),
                environment);
        reader.requireToSplit(
                !source.gzip(),
                JobOption.COMPRESSION_TYPE,
                "Gzip",
                "None: a packed object can only be read from its beginning");
        reader.requireToSplit(
                !source.manifest(),
                JobOption.DATA_TYPE,
                "ManifestFile",
                "S3Prefix: a manifest does not say how long its objects are");
        reader.requireToSplit(
                !reader.has(JobOption.OVERWRITE) || reader.part().count() == 1,
                JobOption.OVERWRITE,
                "it",
                "none: an instance can't tell the others' new parts from old ones. Remove the outputs");
        var format = reader.text(JobOption.FORMAT).orElse(SAGEMAKER);
        // What another format would have is not known.
        if (FORMATS.stream().map(Object::toString).anyMatch(format::equals)) {
            if (reader.has(JobOption.RETRY_ERRORS) && !kind.findsErrors()) {
                reader.wrong(
                        JobOption.FORMAT,
                        format,
                        "bedrock or openai with --retry-errors, or --bad-records keep with the --accept application/jsonlines");
            }
            reader.requireNoOther(format);
        }
        reader.requireNoProblem();
        return new TransformJob(source, output.orElseThrow(), kind, invocations, reader.part(), options.keySet());
    }

    /// Reads the options of the kind that `--format` and the content type name.
    private static JobKind kind(JobReader options) {
        var format = options.word(JobOption.FORMAT, FORMATS);
        return format instanceof Envelope envelope
                ? Envelopes.read(envelope, options)
                : Tables.type(options).map(type -> Tables.read(type, options)).orElseGet(() -> Records.read(options));
    }

    /// What an object is shared out in.
    List<ObjectRange> ranges(StoredObject object) {
        return ObjectRange.of(object, has(JobOption.SPLIT_OBJECTS) ? part.count() : 1);
    }

    boolean has(JobOption option) {
        return given.contains(option);
    }

    /// How objects become requests: what the job says, else what the container answers to
    /// `/execution-parameters`, else the platform's default.
    ///
    /// @param container its answer; a missing node where it does not know the question
    Splitting splitting(JsonNode container) {
        if (kind instanceof Envelopes) {
            return OF_ENVELOPES;
        }
        var records = kind.records();
        var strategy = records.strategy().or(() -> strategy(container)).orElse(BatchStrategy.MULTI_RECORD);
        var said = container.path("MaxPayloadInMB");
        int payload = records.maxPayloadInMb()
                .orElse(said.isInt() && said.intValue() >= 0 ? said.intValue() : DEFAULT_PAYLOAD_IN_MB);
        // An object that is one request can't be shared, whatever the container says.
        boolean isRefused = payload == 0 && has(JobOption.SPLIT_OBJECTS);
        // Which means MiB.
        return new Splitting(
                records.formats().splitType(),
                strategy,
                Splitting.MEBIBYTE * (isRefused ? DEFAULT_PAYLOAD_IN_MB : payload));
    }

    /// How many records requests have, within the splitting.
    MiniBatchSize miniBatchSize() {
        var records = kind.records();
        return new MiniBatchSize(
                records.maxPayloadInMb().isEmpty() && records.formats().asksForLines());
    }

    /// The platform's containers spell it in capitals, the API does not.
    private static Optional<BatchStrategy> strategy(JsonNode container) {
        var text = container.path("BatchStrategy").asText();
        return Arrays.stream(BatchStrategy.values())
                .filter(strategy ->
                        strategy.name().equals(text) || strategy.toString().equals(text))
                .findFirst();
    }

    /// Whether a file would be one of the objects.
    public boolean isInput(Path file) {
        return source.storage().at(file).isListedIn(source.input());
    }

    boolean isBedrock() {
        return kind instanceof Envelopes lines && lines.envelope() == Envelope.BEDROCK;
    }

    /// What the bytes of an output depend on, as far as the job says it.
    String madeBy() {
        return "%s %s %s".formatted(kind.madeBy(), source.gzip(), new TreeMap<>(invocations.environment));
    }

    /// Where an object's answers go.
    Location output(StoredObject object) {
        return output.resolve(object.key() + ".out");
    }

    /// Whether an object's output would be that in which an instance of a job in Bedrock's format counts
    /// its records.
    boolean isManifest(StoredObject object) {
        var pattern = part.count() == 1 ? "manifest\\.json" : "manifest-\\d+-of-%d\\.json".formatted(part.count());
        return isBedrock() && object.key().matches(pattern);
    }

    /// The variables of a server of the runner's own: as the platform would start it for this job.
    ///
    /// @param environment wins over what such a server does by default: answers of lines that nothing
    ///   is written between end in a newline, and records that are lines are answered by lines
    public Map<String, String> serverVariables(Map<String, String> environment) {
        var records = kind.records();
        var formats = records.formats();
        var variables = new HashMap<String, String>();
        variables.put("BERTH_TRAILING_NEWLINE", String.valueOf(!formats.endsLines()));
        formats.lines().ifPresent(type -> variables.put("SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT", type.toString()));
        variables.putAll(environment);
        variables.put("BERTH_BAD_RECORDS", records.keepsBadRecords() ? "keep" : "reject");
        variables.put("SAGEMAKER_BATCH", "true");
        records.strategy().ifPresent(value -> variables.put("SAGEMAKER_BATCH_STRATEGY", value.name()));
        records.maxPayloadInMb()
                .ifPresent(value -> variables.put("SAGEMAKER_MAX_PAYLOAD_IN_MB", String.valueOf(value)));
        if (invocations.maxConcurrent > 0) {
            variables.put("SAGEMAKER_MAX_CONCURRENT_TRANSFORMS", String.valueOf(invocations.maxConcurrent));
        }
        variables.putAll(invocations.environment);
        return variables;
    }
}
