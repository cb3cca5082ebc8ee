package dev.berth.desk;

import dev.berth.config.ExtensionSettings;
import dev.berth.config.Reading;
import dev.berth.config.Syntax;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/// What `AsyncInferenceConfig` says of an asynchronous endpoint.
///
/// @param output a directory or `s3://bucket/prefix`; empty: there are no asynchronous invocations
/// @param failures the same for what fails; empty: below the output
/// @param input the directory of the files that a caller may name; empty: only objects in S3
/// @param concurrency how many are asked at once
/// @param queue how many wait besides
/// @param s3 empty: AWS itself
public record AsyncConfig(
        Optional<String> output,
        Optional<String> failures,
        Optional<Path> input,
        int concurrency,
        int queue,
        Optional<URI> s3) {

    /// Reads them.
    public static final class Settings implements ExtensionSettings {
        @Override
        public Record read(Reading reading) {
            var output = reading.optional("--async-output", place());
            if (output.isPresent() && reading.isSet("tls-certificate")) {
                reading.problem("async-output: found it beside tls-certificate, expected one of them; the server asks"
                        + " itself without TLS");
            }
            return new AsyncConfig(
                    output,
                    reading.optional("--async-failures", place()),
                    reading.optional("--async-input", Syntax.directory()),
                    reading.value("--async-concurrency", Syntax.wholeNumber(1, 1000), 4),
                    reading.value("--async-queue", Syntax.wholeNumber(1, 1000), 100),
                    reading.optional("s3-endpoint", Syntax.httpAddress("http://localhost:9000")));
        }
    }

    private static Syntax<String> place() {
        return new Syntax<>("<place>", "a directory or s3://bucket/prefix", text -> {
            try (var storage = new Storage()) {
                storage.at(text);
                return text;
            } catch (StorageException _) {
                return null;
            }
        });
    }
}
