package dev.berth.desk;

import dev.berth.config.Findings;
import dev.berth.config.HttpConfig;
import dev.berth.config.ServerConfig;
import dev.berth.config.Setting;
import dev.berth.config.SettingGroup;
import dev.berth.config.Settings;
import dev.berth.config.Syntax;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import java.net.URI;
import java.nio.file.Path;

/// Whether boto3 finds its paths, and what `AsyncInferenceConfig` says of an asynchronous endpoint.
public final class DeskConfig implements SettingGroup {

    private static final Settings SETTINGS = Settings.of(DeskConfig.class);

    private static final Syntax<String> PLACE =
            new Syntax<>("<place>", "a directory or s3://bucket/prefix", DeskConfig::place);

    /// A directory or `s3://bucket/prefix`. Unset: there are no asynchronous invocations.
    static final Setting<String> OUTPUT = SETTINGS.of("async-output", PLACE);

    /// The same for what fails. Unset: below the output.
    static final Setting<String> FAILURES = SETTINGS.of("async-failures", PLACE);

    /// The directory of the files that a caller may name. Unset: only objects in S3.
    static final Setting<Path> INPUT = SETTINGS.of("async-input", Syntax.directory());

    /// How many are asked at once.
    static final Setting<Integer> CONCURRENCY = SETTINGS.of("async-concurrency", Syntax.wholeNumber(1, 1000));

    /// How many wait besides.
    static final Setting<Integer> QUEUE = SETTINGS.of("async-queue", Syntax.wholeNumber(1, 1000));

    /// Unset: AWS itself.
    static final Setting<URI> S3 = SETTINGS.of("s3-endpoint", Syntax.httpAddress("http://localhost:9000"));

    static final Setting<Boolean> RUNTIME_API = SETTINGS.atDesk("runtime-api");

    @Override
    public void check(ServerConfig config, Findings findings) {
        if (config.find(OUTPUT).isPresent() && HttpConfig.tls(config).isPresent()) {
            findings.problem(
                    "async-output: found it beside tls-certificate, expected one of them; the server asks itself without TLS");
        }
    }

    private static String place(String text) {
        try (var storage = new Storage()) {
            storage.at(text);
            return text;
        } catch (StorageException _) {
            return null;
        }
    }
}
