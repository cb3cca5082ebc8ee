package dev.berth.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.testing.FaultyProxy;
import dev.berth.testing.FaultyProxy.Fault;
import dev.berth.testing.FaultyProxy.Request;
import dev.berth.testing.S3Server;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// An S3 that throttles, fails, and loses connections, between a real client and a real server.
class S3FaultsTest {

  private static final String BUCKET = "faults";
  private static final Location OBJECT = Location.of("s3://faults/object");
  private static final byte[] BYTES = new byte[20 << 20];

  private static S3Server server;

  @BeforeAll
  static void start() throws Exception {
    new Random(1).nextBytes(BYTES);
    server = S3Server.start().createBucket(BUCKET);
    server.put(BUCKET, "large", BYTES);
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  /// What may happen to the first attempts of every request. All of it is survived.
  static Stream<Fault> faults() {
    return Stream.of(
        Fault.slowDown(), new Fault.Answer(500, "InternalError"), new Fault.Answer(503, "ServiceUnavailable"),
        new Fault.Answer(400, "RequestTimeout"), new Fault.CutRequest(0), new Fault.CutRequest(100_000), new Fault.LoseAnswer(),
        new Fault.CutAnswer(0), new Fault.CutAnswer(100), new Fault.CutAnswer(100_000));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void whatIsWrittenThroughAFaultyConnectionIsWhole(Fault fault) throws IOException {
    try (var proxy = twice(fault); var storage = storage(proxy)) {
      for (int size : new int[] {0, 1000, BYTES.length}) {
        write(storage, OBJECT, size);
        assertThat(server.bytes(BUCKET, "object")).isEqualTo(Arrays.copyOf(BYTES, size));
      }
    }
    assertThat(server.unfinishedUploads(BUCKET)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("faults")
  void whatIsReadThroughAFaultyConnectionIsWhole(Fault fault) throws IOException {
    try (var proxy = twice(fault); var storage = storage(proxy); var in = storage.open(Location.of("s3://faults/large"))) {
      assertThat(in.readAllBytes()).isEqualTo(BYTES);
    }
  }

  @ParameterizedTest
  @MethodSource("faults")
  void whatIsListedThroughAFaultyConnectionIsWhole(Fault fault) throws IOException {
    var keys = IntStream.range(0, 1500).mapToObj("list/%04d"::formatted).toList();
    keys.forEach(key -> server.put(BUCKET, key, "x"));
    try (var proxy = twice(fault); var storage = storage(proxy); var objects = storage.list(Location.of("s3://faults/list"))) {
      assertThat(objects.map(object -> "list/" + object.key())).containsExactlyElementsOf(keys);
      assertThat(storage.size(Location.of("s3://faults/list/0000"))).hasValue(1);
      assertThat(storage.size(Location.of("s3://faults/none"))).isEmpty();
    }
  }

  private static FaultyProxy twice(Fault fault) throws IOException {
    return proxy(request -> request.attempt() <= 2 ? fault : new Fault.Pass());
  }

  private static FaultyProxy proxy(Function<Request, Fault> schedule) throws IOException {
    return new FaultyProxy(server.endpoint(), schedule);
  }

  private static Storage storage(FaultyProxy proxy) {
    return new Storage(server.options().withEndpoint(proxy.endpoint()));
  }

  private static void write(Storage storage, Location location, int size) throws IOException {
    try (var writer = storage.create(location)) {
      writer.write(BYTES, 0, size);
      writer.commit();
    }
  }
}
