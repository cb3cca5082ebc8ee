package dev.berth.transform.command;

import dev.berth.command.ServeOptions;
import dev.berth.command.Server;
import dev.berth.command.StartException;
import dev.berth.command.Subcommand;
import dev.berth.config.ConfigurationException;
import dev.berth.config.ModelConfig;
import dev.berth.config.MonitoringConfig;
import dev.berth.config.ServingConfig;
import dev.berth.config.Setting;
import dev.berth.json.JsonText;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.transform.ArrayJob;
import dev.berth.transform.JobFile;
import dev.berth.transform.JobOption;
import dev.berth.transform.JobPlan;
import dev.berth.transform.JobReport;
import dev.berth.transform.JobRunner;
import dev.berth.transform.JobStatus;
import dev.berth.transform.TransformException;
import dev.berth.transform.TransformJob;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ResourceBundle;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/// The `transform` command: a batch-transform job, against a container that is up or a server in
/// this process.
///
/// Progress and the summary go to stdout, problems and the log to stderr. Ends with 0 when every
/// object has its output, with 1 when one has not, with 2 when the job is not written as it should
/// be.
public final class TransformCommand implements Subcommand {

    /// What each flag means.
    private static final ResourceBundle FLAGS =
            ResourceBundle.getBundle("dev.berth.transform.command.flags", Locale.ROOT);

    private static final String ENDPOINT = "--endpoint";
    private static final String DRY_RUN = "--dry-run";
    private static final String BAD_RECORDS = "BERTH_BAD_RECORDS";

    /// Those that say, besides the model's own, how the server in this process behaves.
    private static final List<Setting<?>> OF_THE_SERVER =
            List.of(ModelConfig.MODEL_DIR, ServingConfig.TRAILING_NEWLINE, MonitoringConfig.LOG_FORMAT);

    @Override
    public CommandSpec spec() {
        var spec = ServeOptions.with(CommandSpec.create().name("transform"), List.of());
        for (var option : JobOption.values()) {
            var meaning = FLAGS.getString(option.flag().substring(2));
            spec.addOption(option(
                    option.flag(),
                    option.label(),
                    option.field().isEmpty() ? meaning : meaning + "\n  " + option.field()));
        }
        spec.addOption(option("--job", "<file>", FLAGS.getString("job")));
        spec.addOption(option(ENDPOINT, "<url>", FLAGS.getString("endpoint")));
        spec.addOption(option(DRY_RUN, "", FLAGS.getString("dry-run")));
        spec.addOption(option("--report", "<file>", FLAGS.getString("report")));
        for (var option : Storage.flags()) {
            spec.addOption(option(option.name(), option.label(), option.meaning()));
        }
        ServeOptions.add(OF_THE_SERVER, spec);
        ServeOptions.add(ModelConfig.OF_ONE_MODEL, spec);
        spec.usageMessage()
                .customSynopsis("transform --input <in> --output <out> [option]...")
                .description(
                        "Runs a batch-transform job: reads objects, sends their records to the model, writes the answers.",
                        "Ends with 0, with 1 when an object failed, or with 2 when it was told something wrong.",
                        "");
        return spec;
    }

    @Override
    public int run(Map<String, String> environment, Path home, ParseResult parsed) throws Exception {
        try (var storage = read(() -> new Storage(flag -> given(flag, parsed)))) {
            var job = job(storage, environment, parsed);
            var report = report(job, parsed);
            var endpoint = read(() -> given(ENDPOINT, parsed).map(text -> Storage.url(ENDPOINT, text)));
            if (endpoint.isPresent()) {
                requireNoServersFlags(parsed);
            }
            if (parsed.hasMatchedOption(DRY_RUN)) {
                JobPlan.of(job).forEach(System.out::println);
                return ExitCode.OK;
            }
            return run(job, report, runner -> {
                if (endpoint.isPresent()) {
                    return runner.run(endpoint.get());
                }
                try (var server = server(job.serverVariables(environment), ServeOptions.given(parsed), home)) {
                    server.awaitReady();
                    return runner.run(URI.create("http://127.0.0.1:" + server.port()));
                }
            });
        } catch (TransformException | StorageException e) {
            throw new StartException(e.getMessage(), e);
        } catch (OutOfMemoryError e) {
            throw new StartException(TransformException.heapIsFull(), e);
        }
    }

    /// A server for this job alone: it listens on a free port of this machine, without TLS.
    private static Server server(Map<String, String> environment, Map<String, String> flags, Path home) {
        var variables = new HashMap<>(environment);
        variables.remove("BERTH_TLS_CERTIFICATE");
        variables.remove("BERTH_TLS_KEY");
        variables.put("SAGEMAKER_BIND_TO_PORT", "0");
        variables.put("BERTH_HOST", "127.0.0.1");
        return Server.start(ServeOptions.ofOneModel(variables, flags, home));
    }

    private interface Run {
        JobReport of(JobRunner runner) throws Exception;
    }

    private static int run(TransformJob job, Path reportFile, Run run) throws Exception {
        JobReport report;
        var progress = new ProgressDisplay();
        var runner = new JobRunner(job, progress);
        try (var _ = new JobSignals(runner)) {
            try (progress) {
                // The report of another run must not stand for this one.
                write(JobReport.unfinished(job, JobStatus.IN_PROGRESS, "it has not ended"), reportFile);
                report = run.of(runner);
            } catch (Exception | Error e) {
                write(JobReport.unfinished(job, JobStatus.FAILED, e.getMessage()), reportFile);
                throw e;
            }
            if (!report.problem().isEmpty()) {
                System.err.println(report.problem());
            }
            System.out.println(ProgressDisplay.summary(report));
            write(report, reportFile);
        }
        return report.isComplete() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private static void requireNoServersFlags(ParseResult parsed) {
        var ignored = Stream.concat(OF_THE_SERVER.stream(), ModelConfig.OF_ONE_MODEL.stream())
                .flatMap(setting -> setting.flag().stream())
                .filter(parsed::hasMatchedOption)
                .map(flag -> "%s: found it with --endpoint, expected one of them: it is for a server in this process"
                        .formatted(flag))
                .toList();
        if (!ignored.isEmpty()) {
            throw new ConfigurationException(ignored);
        }
    }

    private static void write(JobReport report, Path file) throws StartException {
        try {
            Files.writeString(file, JsonText.tree(report).toPrettyString());
        } catch (IOException e) {
            throw new StartException(
                    "the report can't be written (%s); let this user write there, or name another file with --report"
                            .formatted(e),
                    e);
        }
    }

    /// Checked before the job: it would be known after hours otherwise.
    private static Path report(TransformJob job, ParseResult parsed) {
        var file = Path.of(parsed.matchedOptionValue("--report", job.part().named("transform-report.json")))
                .toAbsolutePath();
        boolean isObject = job.isInput(file);
        if (isObject || Files.isDirectory(file) || !Files.isDirectory(file.getParent())) {
            throw new ConfigurationException(
                    List.of("--report: found %s, expected a file in a directory that is there%s"
                            .formatted(file, isObject ? ", and not in the input, where it would be an object" : "")));
        }
        return file;
    }

    /// The flags over the file.
    private static TransformJob job(Storage storage, Map<String, String> environment, ParseResult parsed) {
        var options = new EnumMap<JobOption, String>(JobOption.class);
        Map<String, String> ofJob = Map.of();
        var file = given("--job", parsed);
        if (file.isPresent()) {
            var read = JobFile.read(Path.of(file.get()));
            options.putAll(read.options());
            ofJob = read.environment();
        }
        for (var option : JobOption.values()) {
            given(option.flag(), parsed).ifPresent(value -> options.put(option, value));
        }
        var badRecords = ofJob.getOrDefault(BAD_RECORDS, environment.get(BAD_RECORDS));
        // The variable of a server is no reason to refuse a job whose records are no lines.
        if (badRecords != null
                && "Line".equals(options.get(JobOption.SPLIT_TYPE))
                && !options.containsKey(JobOption.FORMAT)) {
            options.putIfAbsent(JobOption.BAD_RECORDS, badRecords);
        }
        ArrayJob.read(environment, options);
        return TransformJob.read(storage, options, ofJob);
    }

    /// Reads a value of a flag, whose problem names it.
    private static <T> T read(Supplier<T> value) {
        try {
            return value.get();
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(List.of(e.getMessage()));
        }
    }

    private static Optional<String> given(String flag, ParseResult parsed) {
        return Optional.ofNullable(parsed.matchedOptionValue(flag, (Object) null))
                .map(Object::toString);
    }

    /// @param label empty for a switch
    /// @param meaning in lines
    private static OptionSpec option(String name, String label, String meaning) {
        var option = OptionSpec.builder(name).description(meaning.split("\n"));
        return (label.isEmpty()
                        ? option.type(boolean.class)
                        : option.type(String.class).paramLabel(label))
                .build();
    }
}
