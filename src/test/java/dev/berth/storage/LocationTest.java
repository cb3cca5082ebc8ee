package dev.berth.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LocationTest {

  @ParameterizedTest
  @CsvSource({
    "s3://bucket, bucket, ''",
    "s3://bucket/, bucket, ''",
    "s3://my.bucket-1/a/b.csv, my.bucket-1, a/b.csv",
    "s3://bucket/a/, bucket, a/",
    "s3://bucket/a%20b+c d?e#f, bucket, a%20b+c d?e#f",
    "s3://bucket//a, bucket, /a",
    "s3://bucket/é😀, bucket, é😀"
  })
  void aLocationInS3HasABucketAndAKeyThatIsTakenAsItIs(String text, String bucket, String key) {
    assertThat(Location.of(text)).isEqualTo(new S3Location(bucket, key, text)).hasToString(text);
  }

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
    assertThat(Location.of(text)).isEqualTo(new LocalLocation(path, text)).hasToString(text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gs://bucket/key | found the scheme gs,",
        "https://example.com/a | found the scheme https,",
        "S3://bucket/a | found the scheme S3,",
        "s3:// | found no name of a bucket,",
        "s3:///key | found no name of a bucket,",
        "s3://a b/c | found no name of a bucket,",
        "s3:/bucket/key | found no name of a bucket,",
        "file:///a b | found no URI of a file (Illegal character in path",
        "file://host/a | found no URI of a file",
        "' ' | found nothing,"
      })
  void anythingElseIsAnErrorThatSaysWhatWasFoundAndWhatIsExpected(String text, String found) {
    assertThatThrownBy(() -> Location.of(text))
        .isInstanceOf(StorageException.class)
        .hasMessageStartingWith("\"%s\": %s".formatted(text, found))
        .hasMessageEndingWith("expected s3://bucket/key, file:///path or a path");
  }

  @Test
  void aPathThatCannotBeIsAnError() {
    assertThatThrownBy(() -> Location.of("a\0b"))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("found no path (Nul character not allowed)");
  }

  @Test
  void aLongTextIsCutInTheMessage() {
    assertThatThrownBy(() -> Location.of("gs://" + "😀".repeat(100)))
        .hasMessage(
            "\"gs://"
                + "😀".repeat(27)
                + "…\": found the scheme gs, expected s3://bucket/key, file:///path or a path");
  }

  @ParameterizedTest
  @CsvSource({
    "s3://b, a/c, a/c, s3://b/a/c",
    "s3://b/, a, a, s3://b/a",
    "s3://b/out, a, out/a, s3://b/out/a",
    "s3://b/out/, a//..%20, out/a//..%20, s3://b/out/a//..%20"
  })
  void aKeyIsResolvedBelowALocationInS3(String location, String child, String key, String text) {
    assertThat(Location.of(location).resolve(child)).isEqualTo(new S3Location("b", key, text));
  }

  @Test
  void aKeyInS3HasAtMost1024Bytes() {
    var prefix = Location.of("s3://b/out");
    assertThat(prefix.resolve("ż".repeat(510))).hasToString("s3://b/out/" + "ż".repeat(510));
    assertThatThrownBy(() -> prefix.resolve("ż".repeat(511)))
        .isInstanceOf(StorageException.class)
        .hasMessage("s3://b/out: found a key of 1026 bytes below it, expected at most 1024");
  }

  @Test
  void aKeyIsResolvedBelowADirectory() {
    assertThat(Location.of("out/").resolve("a/..b/c.csv"))
        .isEqualTo(new LocalLocation(Path.of("out/a/..b/c.csv"), "out/a/..b/c.csv"));
    assertThat(Location.of("file:///out").resolve("a b"))
        .isEqualTo(new LocalLocation(Path.of("/out/a b"), "file:///out/a b"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/etc/passwd", "../a", "a/../../b", "a//b", "a/./b", "a/", "a\0b"})
  void aKeyThatCannotBeAFileOfItsOwnIsAnError(String key) {
    assertThatThrownBy(() -> Location.of("out").resolve(key))
        .isInstanceOf(StorageException.class)
        .hasMessage(
            "out: found the key \"%s\", expected one whose parts can be names of files", key);
  }

  @ParameterizedTest
  @CsvSource({
    "'', a/b, a/b",
    "in/, in/a/b, a/b",
    "in, in/a, a",
    "in/da, in/data.csv, data.csv",
    "in/data.csv, in/data.csv, data.csv",
    "d, data/x, data/x",
    "in, in-2/x, in-2/x"
  })
  void keysAreRelativeToThePrefixThatIsListed(String prefix, String key, String relative) {
    assertThat(S3Store.key(prefix, key)).isEqualTo(relative);
  }
}
