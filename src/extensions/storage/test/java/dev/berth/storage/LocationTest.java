package dev.berth.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LocationTest {

    @AutoClose
    private final Storage storage = new Storage();

    @ParameterizedTest
    @CsvSource({
        "in, in",
        "/a/b, /a/b",
        "./a b, ./a b",
        "file:///a/b, /a/b",
        "file:///a%20b, /a b",
        "file:/a, /a",
        "a:b, a:b",
        "s3:a, s3:a",
        "in/, in"
    })
    void aPathOrAFileUriIsLocal(String text, Path path) {
        assertThat(storage.at(text)).hasToString(text);
        assertThat(storage.at(text).file()).hasValue(path);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        gs://bucket/key | found the scheme gs,
        https://example.com/a | found the scheme https,
        S3://bucket/a | found the scheme S3,
        s3:// | found no name of a bucket,
        s3:///key | found no name of a bucket,
        s3://a b/c | found no name of a bucket,
        s3:/bucket/key | found no name of a bucket,
        file:///a b | found no URI of a file (Illegal character in path
        file://host/a | found no URI of a file
        ' ' | found nothing,
        """)
    void anythingElseIsAnErrorThatSaysWhatWasFoundAndWhatIsExpected(String text, String found) {
        assertThatThrownBy(() -> storage.at(text))
                .isInstanceOf(StorageException.class)
                .hasMessageStartingWith("\"%s\": %s".formatted(text, found))
                .hasMessageEndingWith("expected s3://bucket/key, file:///path or a path");
    }

    @Test
    void aPathThatCannotBeIsAnError() {
        assertThatThrownBy(() -> storage.at("a\0b"))
                .isInstanceOf(StorageException.class)
                .hasMessageContaining("found no path (Nul character not allowed)");
    }

    @Test
    void aLongTextIsCutInTheMessage() {
        assertThatThrownBy(() -> storage.at("gs://" + "😀".repeat(100)))
                .hasMessage("\"gs://"
                        + "😀".repeat(27)
                        + "…\": found the scheme gs, expected s3://bucket/key, file:///path or a path");
    }

    @Test
    void aKeyIsResolvedBelowADirectory() {
        var below = storage.at("out/").resolve("a/..b/c.csv");
        assertThat(below).hasToString("out/a/..b/c.csv");
        assertThat(below.file()).hasValue(Path.of("out/a/..b/c.csv"));
        assertThat(storage.at("file:///out").resolve("a b").file()).hasValue(Path.of("/out/a b"));
    }

    @ParameterizedTest
    @CsvSource({
        "s3://b, a/c, s3://b/a/c",
        "s3://b/, a, s3://b/a",
        "s3://my.bucket-1/out, a, s3://my.bucket-1/out/a",
        "s3://b/out/, a//..%20, s3://b/out/a//..%20"
    })
    void aKeyIsResolvedBelowALocationInS3(String location, String key, String below) {
        assertThat(storage.at(location).resolve(key)).hasToString(below);
    }

    @Test
    void aKeyInS3HasAtMost1024Bytes() {
        var prefix = storage.at("s3://b/out");
        assertThat(prefix.resolve("ż".repeat(510))).hasToString("s3://b/out/" + "ż".repeat(510));
        assertThatThrownBy(() -> prefix.resolve("ż".repeat(511)))
                .isInstanceOf(StorageException.class)
                .hasMessage("s3://b/out: found a key of 1026 bytes below it, expected at most 1024");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/etc/passwd", "../a", "a/../../b", "a//b", "a/./b", "a/", "a\0b"})
    void aKeyThatCannotBeAFileOfItsOwnIsAnError(String key) {
        assertThatThrownBy(() -> storage.at("out").resolve(key))
                .isInstanceOf(StorageException.class)
                .hasMessage("out: found the key \"%s\", expected one whose parts can be names of files", key);
    }
}
