package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.content.BatchStrategy;
import dev.berth.content.RecordIo;
import dev.berth.content.TfRecord;
import dev.berth.hooks.BadInputException;
import dev.berth.transform.Payload.MiniBatch;
import dev.berth.transform.filter.JsonPathFilter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MiniBatchesTest {

    private static final Optional<RecordProcessing> AS_THEY_ARE = Optional.empty();

    @Test
    void severalRecordsFillAPayloadAndOneIsAlone() throws IOException {
        assertThat(bodies("a\nbb\nccc\ndd", multi(FramedSplit.LINE, 5))).containsExactly("a\nbb\n", "ccc\n", "dd");
        assertThat(bodies("a\nbb\nccc\ndd", multi(FramedSplit.LINE, 6))).containsExactly("a\nbb\n", "ccc\ndd");
        assertThat(bodies("a\nbb\nccc\nd", multi(FramedSplit.LINE, 100))).containsExactly("a\nbb\nccc\nd");
        assertThat(bodies("a\nbb\nccc\nd", single(FramedSplit.LINE, 100))).containsExactly("a\n", "bb\n", "ccc\n", "d");
    }

    @Test
    void payloadsKnowWhereTheirRecordsAre() throws IOException {
        var batches = miniBatches("a\nbb\nccc\ndd", multi(FramedSplit.LINE, 5), AS_THEY_ARE);
        assertThat(batches).extracting(MiniBatch::firstRecord).containsExactly(1L, 3L, 4L);
        assertThat(batches).extracting(MiniBatch::records).containsExactly(2, 1, 1);
        assertThat(miniBatches("a\nb\n", single(FramedSplit.LINE, 5), AS_THEY_ARE))
                .extracting(MiniBatch::firstRecord)
                .containsExactly(1L, 2L);
    }

    @Test
    @Tag("BAT-19")
    void twentyMebibytesOfCsvAreFourRequestsOfSix() throws IOException {
        var row = IntStream.range(0, 20).mapToObj(Integer::toString).collect(Collectors.joining(",")) + "\n";
        var object = new SyntheticObject(row.getBytes(UTF_8), 20L << 20);
        var splitting = Splitting.ofMebibytes(FramedSplit.LINE, BatchStrategy.MULTI_RECORD, 6);
        var batches = new MiniBatches(object, splitting, AS_THEY_ARE);
        long bytes = 0;
        int requests = 0;
        for (var next = batches.next(); next.isPresent(); next = batches.next()) {
            var body = ((MiniBatch) next.get()).body();
            assertThat(body.length).isLessThanOrEqualTo(6 << 20);
            bytes += body.length;
            requests++;
        }
        assertThat(requests).isEqualTo(4);
        assertThat(bytes).isEqualTo(20L << 20);
    }

    @Test
    void aRecordThatFitsIntoNoPayloadIsRefused() {
        for (var object : List.of("a\nbbbbb\n", "a\nbbbbbb")) {
            assertThatThrownBy(() -> bodies(object, multi(FramedSplit.LINE, 5)))
                    .isInstanceOf(BadInputException.class)
                    .hasMessage("record 2: found more than 5 bytes, expected at most 5 in one record");
        }
        assertThatThrownBy(() -> bodies("abcdef", multi(FramedSplit.NONE, 5)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 1: found more than 5 bytes, expected at most 5 in one record");
    }

    @ParameterizedTest
    @EnumSource(BatchStrategy.class)
    void anEmptyObjectIsOneEmptyRequestWhereNothingIsSplit(BatchStrategy strategy) throws IOException {
        assertThat(bodies("", new Splitting(FramedSplit.NONE, strategy, 6))).containsExactly("");
        for (var splitType : List.of(FramedSplit.LINE, FramedSplit.RECORD_IO, FramedSplit.TF_RECORD)) {
            assertThat(bodies("", new Splitting(splitType, strategy, 6))).isEmpty();
            assertThat(payloads("", new Splitting(splitType, strategy, 0), AS_THEY_ARE))
                    .isEmpty();
        }
    }

    /// The batch strategy has no effect there.
    @ParameterizedTest
    @EnumSource(BatchStrategy.class)
    void anUnsplitObjectIsOnePayload(BatchStrategy strategy) throws IOException {
        assertThat(bodies("a\nb\n", new Splitting(FramedSplit.NONE, strategy, 6)))
                .containsExactly("a\nb\n");
    }

    @Test
    @Tag("BAT-13")
    @Tag("BAT-14")
    void framedRecordsAreSentFramedTogetherAndBareAlone() throws IOException {
        var records = List.of("abc".getBytes(UTF_8), new byte[0], "defgh".getBytes(UTF_8));
        assertThat(sent(RecordIo.write(records), multi(FramedSplit.RECORD_IO, 1000)))
                .containsExactly(RecordIo.write(records));
        assertThat(sent(RecordIo.write(records), multi(FramedSplit.RECORD_IO, 20)))
                .containsExactly(RecordIo.write(records.subList(0, 2)), RecordIo.write(records.subList(2, 3)));
        assertThat(sent(RecordIo.write(records), single(FramedSplit.RECORD_IO, 5)))
                .containsExactlyElementsOf(records);
        assertThat(sent(TfRecord.write(records), multi(FramedSplit.TF_RECORD, 1000)))
                .containsExactly(TfRecord.write(records));
        assertThat(sent(TfRecord.write(records), single(FramedSplit.TF_RECORD, 5)))
                .containsExactlyElementsOf(records);
    }

    @Test
    void unlimitedPayloadsAreTheWholeObjectAsAStream() throws IOException {
        for (var splitting :
                List.of(multi(FramedSplit.LINE, 0), multi(FramedSplit.NONE, 0), single(FramedSplit.NONE, 0))) {
            assertThat(streamed("a\nb\n", splitting)).isEqualTo("a\nb\n");
        }
        assertThat(streamed("", multi(FramedSplit.NONE, 0))).isEmpty();
        var framed = RecordIo.write(List.of(new byte[3], new byte[9]));
        assertThat(streamed(new String(framed, UTF_8), multi(FramedSplit.RECORD_IO, 0)))
                .isEqualTo(new String(framed, UTF_8));
    }

    @Test
    void anUnlimitedStreamIsNotReadBeforeItIsSent() throws IOException {
        var object = new SyntheticObject("line\n".getBytes(UTF_8), 10L << 30);
        var payload = new MiniBatches(object, multi(FramedSplit.LINE, 0), AS_THEY_ARE).next();
        assertThat(payload).get().isInstanceOf(Payload.WholeObject.class);
        assertThat(object.bytesRead()).isLessThanOrEqualTo(64 * 1024);
    }

    @Test
    void unlimitedSingleRecordsAreAlone() throws IOException {
        assertThat(bodies("a\nbb\n", single(FramedSplit.LINE, 0))).containsExactly("a\n", "bb\n");
    }

    /// They have to be in memory, so they have the largest limit that the API knows.
    @Test
    void unlimitedPayloadsThatAreJoinedHaveTheLargestLimit() throws IOException {
        var object = new SyntheticObject(("x".repeat((1 << 20) - 1) + "\n").getBytes(UTF_8), 150L << 20);
        var batches = new MiniBatches(object, multi(FramedSplit.LINE, 0), processing("$", true));
        var first = (MiniBatch) batches.next().orElseThrow();
        assertThat(first.body().length).isEqualTo(100 << 20);
        assertThat(first.input()).isSameAs(first.body());
        assertThat(((MiniBatch) batches.next().orElseThrow()).records()).isEqualTo(50);
        assertThat(batches.next()).isEmpty();
    }

    @Test
    @Tag("JOIN-04")
    void filteredPayloadsKeepWhatTheirAnswersAreJoinedWith() throws IOException {
        var batches = miniBatches("id,2,3\r\nno,4,5", multi(FramedSplit.LINE, 100), processing("$[1:]", true));
        assertThat(batches).hasSize(1);
        assertThat(batches.getFirst().body()).asString(UTF_8).isEqualTo("2,3\r\n4,5");
        assertThat(batches.getFirst().input()).asString(UTF_8).isEqualTo("id,2,3\r\nno,4,5");
    }

    @Test
    void filteredPayloadsThatAreNotJoinedKeepNothing() throws IOException {
        var batches = miniBatches("id,2,3\nno,4,5", multi(FramedSplit.LINE, 14), processing("$[1:]", false));
        assertThat(batches).hasSize(1);
        assertThat(batches.getFirst().input()).isSameAs(batches.getFirst().body());
    }

    /// Else a filter that leaves little would gather any number of records to be joined.
    @Test
    void whatIsKeptForTheJoinCountsToo() throws IOException {
        var object = "a,1111\nb,1111\nc,1111\n";
        assertThat(miniBatches(object, multi(FramedSplit.LINE, 14), processing("$[0]", true)))
                .hasSize(2);
        assertThat(miniBatches(object, multi(FramedSplit.LINE, 14), processing("$[0]", false)))
                .hasSize(1);
    }

    @Test
    void whatAFilterMakesTooLongIsRefused() {
        assertThatThrownBy(() -> miniBatches("abc,d\n", multi(FramedSplit.LINE, 6), processing("$[0,0]", false)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 1: found 8 bytes after InputFilter, expected at most 6 in one record");
    }

    @Test
    void whatAFilterRefusesNamesTheRecord() {
        assertThatThrownBy(() -> miniBatches("a,b\na\n", multi(FramedSplit.LINE, 6), processing("$[1]", false)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 2, InputFilter $[1]: found a list of 1, expected a list with the index 1");
    }

    private static Splitting multi(SplitType splitType, long maxPayload) {
        return new Splitting(splitType, BatchStrategy.MULTI_RECORD, maxPayload);
    }

    private static Splitting single(SplitType splitType, long maxPayload) {
        return new Splitting(splitType, BatchStrategy.SINGLE_RECORD, maxPayload);
    }

    private static Optional<RecordProcessing> processing(String inputFilter, boolean joinsInput) {
        return Optional.of(new RecordProcessing(
                RecordFormat.CSV,
                RecordProcessing.Unit.LINE,
                JsonPathFilter.parse(inputFilter, false),
                joinsInput,
                JsonPathFilter.parse("$", false),
                false));
    }

    private static List<String> bodies(String object, Splitting splitting) throws IOException {
        return miniBatches(object, splitting, AS_THEY_ARE).stream()
                .map(batch -> new String(batch.body(), UTF_8))
                .toList();
    }

    private static String streamed(String object, Splitting splitting) throws IOException {
        var payloads = payloads(object, splitting, AS_THEY_ARE);
        assertThat(payloads).hasSize(1);
        try (var body = ((Payload.WholeObject) payloads.getFirst()).body()) {
            return new String(body.readAllBytes(), UTF_8);
        }
    }

    private static List<MiniBatch> miniBatches(
            String object, Splitting splitting, Optional<RecordProcessing> processing) throws IOException {
        return payloads(object, splitting, processing).stream()
                .map(MiniBatch.class::cast)
                .toList();
    }

    private static List<byte[]> sent(byte[] object, Splitting splitting) throws IOException {
        return payloads(new ByteArrayInputStream(object), splitting, AS_THEY_ARE).stream()
                .map(payload -> ((MiniBatch) payload).body())
                .toList();
    }

    private static List<Payload> payloads(String object, Splitting splitting, Optional<RecordProcessing> processing)
            throws IOException {
        return payloads(new ByteArrayInputStream(object.getBytes(UTF_8)), splitting, processing);
    }

    private static List<Payload> payloads(
            InputStream object, Splitting splitting, Optional<RecordProcessing> processing) throws IOException {
        var batches = new MiniBatches(object, splitting, processing);
        var payloads = new ArrayList<Payload>();
        for (var payload = batches.next(); payload.isPresent(); payload = batches.next()) {
            payloads.add(payload.get());
        }
        assertThat(batches.next()).isEmpty();
        return payloads;
    }
}
