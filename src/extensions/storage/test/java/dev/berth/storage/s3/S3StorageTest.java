package dev.berth.storage.s3;

import static dev.berth.storage.s3.Impatient.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import dev.berth.testing.FaultyProxy;
import dev.berth.testing.FaultyProxy.Fault;
import dev.berth.testing.S3Server;
import dev.berth.testing.TestThreads;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class S3StorageTest {

    @AutoClose
    private static S3Server server;

    @AutoClose
    private static Storage storage;

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.start();
        storage = Impatient.storage(server.endpoint());
    }

    @Test
    void objectsAreListedByPrefixWithinNamesTooAndWithoutDirectoryMarkers() {
        server.createBucket("prefixes");
        for (var key : List.of("in/", "in/a.csv", "in/b/", "in/b/c.csv", "in-2/x", "in.csv", "other")) {
            server.put("prefixes", key, key.endsWith("/") ? "" : key);
        }
        assertThat(keys("s3://prefixes/in/")).containsExactly("a.csv", "b/c.csv");
        assertThat(keys("s3://prefixes/in")).containsExactly("in-2/x", "in.csv", "a.csv", "b/c.csv");
        assertThat(keys("s3://prefixes/in/b/c.csv")).containsExactly("c.csv");
        assertThat(keys("s3://prefixes")).containsExactly("in-2/x", "in.csv", "in/a.csv", "in/b/c.csv", "other");
        assertThat(keys("s3://prefixes/ot")).as("a prefix within a name").containsExactly("other");
        assertThat(keys("s3://prefixes/none")).isEmpty();
        assertThat(listed("s3://prefixes/in/b"))
                .containsExactly(new StoredObject(storage.at("s3://prefixes/in/b/c.csv"), "c.csv", 10));
    }

    @Test
    void joiningTwiceAtOnceIsJoiningOnce() throws Exception {
        server.createBucket("twice").put("twice", "in/a", new byte[9 << 20]).put("twice", "in/b", "end");
        var parts = listed("s3://twice/in/");
        try (var threads = new TestThreads()) {
            for (int i = 0; i < 5; i++) {
                var whole = storage.at("s3://twice/whole-" + i);
                var joins = Stream.generate(() -> threads.submit(() -> whole.join(parts, Optional.empty())))
                        .limit(3)
                        .toList();
                int failed = 0;
                for (var join : joins) {
                    try {
                        join.get();
                    } catch (ExecutionException e) {
                        assertThat(e).hasCauseInstanceOf(StorageException.class);
                        failed++;
                    }
                }
                assertThat(failed).as("one of them makes it").isLessThan(3);
                assertThat(server.bytes("twice", "whole-" + i))
                        .hasSize((9 << 20) + 3)
                        .endsWith("end".getBytes());
            }
        }
        assertThat(server.unfinishedUploads("twice")).isEmpty();
    }

    private static List<StoredObject> listed(String prefix) {
        try (var objects = storage.at(prefix).list()) {
            return objects.toList();
        }
    }

    @Test
    @Tag("slow")
    void aLongListingComesPageByPageAndNoFurtherThanItIsAskedFor() throws IOException {
        server.createBucket("pages");
        var keys = IntStream.range(0, 3_000).mapToObj("in/%05d"::formatted).toList();
        keys.forEach(key -> server.put("pages", key, "x"));
        try (var proxy = new FaultyProxy(server.endpoint(), _ -> new Fault.Pass());
                var pages = Impatient.storage(proxy.endpoint())) {
            try (var objects = pages.at("s3://pages/in/").list()) {
                assertThat(objects.limit(1500)).hasSize(1500);
            }
            assertThat(proxy.requests()).hasSize(2);
            try (var objects = pages.at("s3://pages/in/").list()) {
                assertThat(objects.map(object -> "in/" + object.key())).containsExactlyElementsOf(keys);
            }
            assertThat(proxy.requests()).hasSize(2 + 3);
        }
    }

    @Test
    void anObjectMayBeReadByteByByteAndLeftBeforeItsEnd() throws IOException {
        server.createBucket("bytes").put("bytes", "a", bytes(5 << 20));
        var expected = bytes(5 << 20);
        var in = storage.at("s3://bytes/a").open();
        for (int i = 0; i < 1000; i++) {
            assertThat(in.read()).isEqualTo(expected[i] & 0xff);
        }
        in.close();
        in.close();
        assertThatThrownBy(in::read)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("s3://bytes/a: found a stream that has been closed, expected an open one");
    }

    @Test
    void aPublicServerIsAskedWithoutASignature() throws Exception {
        try (var open = S3Server.startPublic();
                var anonymous = Impatient.anonymous(open.endpoint())) {
            open.createBucket("open").put("open", "a", "text");
            assertThat(anonymous.at("s3://open/a").open()).hasContent("text");
        }
    }

    @Test
    void partsMayTravelWithTheChecksumsThatAwsWants() throws IOException {
        server.createBucket("checksums");
        try (var store = new S3.Store(new S3Connection(Impatient.options(server.endpoint()), true))) {
            for (int size : new int[] {0, 10, 20 << 20}) {
                var location = store.at("s3://checksums/a" + size);
                try (var writer = location.create(Optional.empty())) {
                    writer.write(bytes(size));
                    writer.commit();
                }
                assertThat(server.bytes("checksums", "a" + size)).isEqualTo(bytes(size));
                assertThat(server.contentType("checksums", "a" + size)).isEqualTo("application/octet-stream");
                try (var in = location.open(0)) {
                    assertThat(in.readAllBytes()).isEqualTo(bytes(size));
                }
            }
        }
    }

    private static List<String> keys(String prefix) {
        return listed(prefix).stream().map(StoredObject::key).toList();
    }
}
