package dev.berth.storage.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.storage.StorageException;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class S3LocationTest {

    private final S3Store store = new S3Store(new S3Connection(S3Options.read(_ -> Optional.empty()), true));

    @AfterEach
    void close() {
        store.close();
    }

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
        assertThat(store.at(text))
                .isEqualTo(new S3Location(store.connection(), bucket, key, text))
                .hasToString(text);
    }

    @ParameterizedTest
    @CsvSource({
        "s3://b, a/c, a/c, s3://b/a/c",
        "s3://b/, a, a, s3://b/a",
        "s3://b/out, a, out/a, s3://b/out/a",
        "s3://b/out/, a//..%20, out/a//..%20, s3://b/out/a//..%20"
    })
    void aKeyIsResolvedBelowALocationInS3(String location, String child, String key, String text) {
        assertThat(store.at(location).resolve(child)).isEqualTo(new S3Location(store.connection(), "b", key, text));
    }

    @Test
    void aKeyInS3HasAtMost1024Bytes() {
        var prefix = store.at("s3://b/out");
        assertThat(prefix.resolve("ż".repeat(510))).hasToString("s3://b/out/" + "ż".repeat(510));
        assertThatThrownBy(() -> prefix.resolve("ż".repeat(511)))
                .isInstanceOf(StorageException.class)
                .hasMessage("s3://b/out: found a key of 1026 bytes below it, expected at most 1024");
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
        assertThat(S3Location.key(prefix, key)).isEqualTo(relative);
    }
}
