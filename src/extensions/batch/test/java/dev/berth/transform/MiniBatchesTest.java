package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.content.BatchStrategy;
import dev.berth.content.RecordIo;
import dev.berth.content.TfRecord;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.MediaType;
import dev.berth.testing.DamagedBytes;
import dev.berth.transform.filter.JsonPathFilter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class MiniBatchesTest {

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final long MEBIBYTE = 1 << 20;

    /// What is sent of an object, `;` for a newline and `~` for a return, and which record is the first of each
    /// request. Lines keep their own newlines; blank ones at the end do not count; a newline in a quoted cell ends
    /// the record, as the platform's documents say.
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
        a;bb;ccc;dd | LINE      | MULTI_RECORD  | 5   | a;bb; ccc; dd    | 1 3 4
        a;bb;ccc;dd | LINE      | MULTI_RECORD  | 6   | a;bb; ccc;dd     | 1 3
        a;bb;ccc;d  | LINE      | MULTI_RECORD  | 100 | a;bb;ccc;d       | 1
        a;bb;ccc;d  | LINE      | SINGLE_RECORD | 100 | a; bb; ccc; d    | 1 2 3 4
        a;b~;;c~d;é | LINE      | SINGLE_RECORD | 100 | a; b~; ; c~d; é  | 1 2 3 4 5
        a;;b        | LINE      | MULTI_RECORD  | 3   | a; ;b            | 1 2
        ;;a; ~;;    | LINE      | SINGLE_RECORD | 100 | ; ; a;           | 1 2 3
        ;;a; ~;;    | LINE      | MULTI_RECORD  | 100 | ;;a;             | 1
        1,"a;b";  | LINE      | SINGLE_RECORD | 100 | 1,"a; b";      | 1 2
        a;bb;       | LINE      | SINGLE_RECORD | 0   | a; bb;           | 1 2
        a;b;        | NONE      | MULTI_RECORD  | 6   | a;b;             | 1
        a;b;        | NONE      | SINGLE_RECORD | 6   | a;b;             | 1
        ''          | NONE      | MULTI_RECORD  | 6   | ''               | 1
        ''          | NONE      | SINGLE_RECORD | 6   | ''               | 1
        ;;          | LINE      | MULTI_RECORD  | 6   | none             | none
        ''          | LINE      | MULTI_RECORD  | 6   | none             | none
        ''          | LINE      | MULTI_RECORD  | 0   | none             | none
        ''          | RECORD_IO | SINGLE_RECORD | 6   | none             | none
        ''          | RECORD_IO | MULTI_RECORD  | 0   | none             | none
        ''          | TF_RECORD | MULTI_RECORD  | 6   | none             | none
        """)
    @Tag("BAT-07")
    void recordsFillPayloads(
            String object, SplitType type, BatchStrategy strategy, long most, String bodies, String firsts)
            throws IOException {
        var batches = miniBatches(
                object.replace(';', '\n').replace('~', '\r').getBytes(UTF_8),
                new Splitting(type, strategy, most),
                none());
        assertThat(batches)
                .extracting(batch ->
                        new String(batch.body(), UTF_8).replace('\n', ';').replace('\r', '~'))
                .containsExactly(bodies == null ? new String[0] : bodies.split(" ", -1));
        assertThat(batches)
                .extracting(batch -> String.valueOf(batch.firstRecord()))
                .containsExactly(firsts == null ? new String[0] : firsts.split(" "));
    }

    @Test
    void aPayloadHasNoMoreRecordsThanItMay() throws IOException {
        var batches = new MiniBatches(
                new ByteArrayInputStream("a\n\nb\nc\nd".getBytes(UTF_8)), multi(SplitType.LINE, 100), none());
        for (var body : List.of("a\n", "\nb\n", "c\nd")) {
            assertThat(batches.next(2).orElseThrow().body())
                    .as(body)
                    .asString(UTF_8)
                    .isEqualTo(body);
        }
        assertThat(batches.next(2)).isEmpty();
    }

    @Test
    void linesOfEveryLengthAroundTheBufferAreWhole() throws IOException {
        for (int length = BUFFER_BYTES - 3; length <= BUFFER_BYTES + 3; length++) {
            var line = "x".repeat(length);
            assertThat(sent(
                            ("a\n" + line + "\n" + line).getBytes(UTF_8),
                            new Splitting(SplitType.LINE, BatchStrategy.SINGLE_RECORD, 0)))
                    .containsExactly("a\n".getBytes(UTF_8), (line + "\n").getBytes(UTF_8), line.getBytes(UTF_8));
        }
    }

    /// The reader never holds more than the record that it gives and one buffer.
    @Test
    void aLargeObjectIsReadInConstantMemory() throws IOException {
        var records = List.of(new byte[100_000], new byte[3]);
        for (var object : Map.of(
                        SplitType.LINE, ("x".repeat(100_000) + "\nshort\n").getBytes(UTF_8),
                        SplitType.RECORD_IO, RecordIo.write(records),
                        SplitType.TF_RECORD, TfRecord.write(records))
                .entrySet()) {
            var stream = new SyntheticObject(object.getValue(), 2_000L * object.getValue().length);
            var reader = multi(object.getKey(), MEBIBYTE).open(stream);
            long given = 0;
            long mostAhead = 0;
            for (var record = reader.next(); record.isPresent(); record = reader.next()) {
                given += record.get().length;
                mostAhead = Math.max(mostAhead, stream.bytesRead() - given);
            }
            assertThat(given).isEqualTo(stream.bytesRead()).isGreaterThan(190 * MEBIBYTE);
            assertThat(mostAhead).isLessThanOrEqualTo(BUFFER_BYTES);
            assertThat(stream.largestRead()).isLessThanOrEqualTo(BUFFER_BYTES);
        }
    }

    /// A line without an end is refused when the limit is reached, and so is an object.
    @Test
    void whatIsTooLongIsNotReadToItsEnd() {
        for (var type : List.of(SplitType.LINE, SplitType.NONE)) {
            var object = new SyntheticObject("x".getBytes(UTF_8), 200 * MEBIBYTE);
            assertThatThrownBy(multi(type, MEBIBYTE).open(object)::next)
                    .isInstanceOf(BadInputException.class)
                    .hasMessage("record 1: found more than 1048576 bytes, expected at most 1048576 in one record");
            assertThat(object.bytesRead()).isLessThanOrEqualTo(MEBIBYTE + BUFFER_BYTES);
        }
        assertThat(multi(SplitType.LINE, 1L << 40).maxRecord()).as("an array").isEqualTo(Integer.MAX_VALUE - 8);
    }

    @ParameterizedTest
    @EnumSource
    void aStreamThatFailsIsNoBadInputAndADamagedOneIsReadOrRefused(SplitType type) throws IOException {
        var closed = InputStream.nullInputStream();
        closed.close();
        assertThatThrownBy(multi(type, 6).open(closed)::next)
                .isInstanceOf(IOException.class)
                .hasMessage("Stream closed");
        var records = List.of("abc".getBytes(UTF_8), new byte[0], "d\n\r\ne".getBytes(UTF_8));
        var object = type.equals(SplitType.TF_RECORD) ? TfRecord.write(records) : RecordIo.write(records);
        for (var strategy : BatchStrategy.values()) {
            DamagedBytes.areReadOrRefused(object, bytes -> {
                try {
                    miniBatches(bytes, new Splitting(type, strategy, 40), none());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    @Test
    @Tag("BAT-13")
    @Tag("BAT-14")
    void framedRecordsAreSentFramedTogetherAndBareAlone() throws IOException {
        var records = List.of("abc".getBytes(UTF_8), new byte[0], "defgh".getBytes(UTF_8));
        var recordIo = RecordIo.write(records);
        assertThat(sent(recordIo, multi(SplitType.RECORD_IO, 1000))).containsExactly(recordIo);
        assertThat(sent(recordIo, multi(SplitType.RECORD_IO, 20)))
                .containsExactly(RecordIo.write(records.subList(0, 2)), RecordIo.write(records.subList(2, 3)));
        assertThat(sent(recordIo, new Splitting(SplitType.RECORD_IO, BatchStrategy.SINGLE_RECORD, 5)))
                .containsExactlyElementsOf(records);
        var tfRecord = TfRecord.write(records);
        assertThat(sent(tfRecord, multi(SplitType.TF_RECORD, 1000))).containsExactly(tfRecord);
        assertThat(sent(tfRecord, new Splitting(SplitType.TF_RECORD, BatchStrategy.SINGLE_RECORD, 5)))
                .containsExactlyElementsOf(records);
    }

    @Test
    void anUnlimitedPayloadIsTheWholeObjectAndIsNotReadBeforeItIsSent() throws IOException {
        for (var type : List.of(SplitType.LINE, SplitType.NONE, SplitType.RECORD_IO)) {
            var object = new SyntheticObject("line\n".getBytes(UTF_8), 10L << 30);
            var payloads = new MiniBatches(object, multi(type, 0), none());
            assertThat(payloads.next(Integer.MAX_VALUE)).contains(Payload.OBJECT);
            assertThat(payloads.next(Integer.MAX_VALUE)).isEmpty();
            assertThat(object.bytesRead()).isLessThanOrEqualTo(64 * 1024);
        }
    }

    /// They have to be in memory, so they have the largest limit that the API knows.
    @Test
    void unlimitedPayloadsThatAreJoinedHaveTheLargestLimit() throws IOException {
        var object = new SyntheticObject(("x".repeat((1 << 20) - 1) + "\n").getBytes(UTF_8), 150L << 20);
        var batches = new MiniBatches(object, multi(SplitType.LINE, 0), processing("$", true));
        var first = batches.next(Integer.MAX_VALUE).orElseThrow();
        assertThat(first.body().length).isEqualTo(100 << 20);
        assertThat(batches.next(Integer.MAX_VALUE).orElseThrow().records()).isEqualTo(50);
        assertThat(batches.next(Integer.MAX_VALUE)).isEmpty();
    }

    /// What is kept for the join counts too: else a filter that leaves little would gather any number of
    /// records.
    @ParameterizedTest
    @CsvSource({"true, 2, 'a,1111;b,1111;'", "false, 1, 'a;b;c;'"})
    @Tag("JOIN-04")
    void filteredPayloadsKeepWhatTheirAnswersAreJoinedWith(boolean isJoined, int requests, String input)
            throws IOException {
        var batches = miniBatches(
                "a,1111\nb,1111\nc,1111\n".getBytes(UTF_8), multi(SplitType.LINE, 14), processing("$[0]", isJoined));
        assertThat(batches).hasSize(requests);
        assertThat(new String(batches.getFirst().input(), UTF_8)).isEqualTo(input.replace(';', '\n'));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        abc,d;  | $[0,0] | record 1: found 8 bytes after InputFilter, expected at most 6 in one record
        a,b;a;  | $[1]   | record 2, InputFilter $[1]: found a list of 1, expected a list with the index 1
        a;bcdefgh | $    | record 2: found more than 6 bytes, expected at most 6 in one record
        """)
    void whatCannotBeSentNamesItsRecord(String object, String filter, String message) {
        assertThatThrownBy(() -> miniBatches(
                        object.replace(";", "\n").getBytes(UTF_8), multi(SplitType.LINE, 6), processing(filter, false)))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }

    private static Splitting multi(SplitType type, long most) {
        return new Splitting(type, BatchStrategy.MULTI_RECORD, most);
    }

    private static Records none() {
        return records(Optional.empty());
    }

    private static Records processing(String inputFilter, boolean joinsInput) {
        return records(Optional.of(new RecordProcessing(
                MediaType.CSV,
                true,
                JsonPathFilter.parse(inputFilter, false),
                joinsInput,
                JsonPathFilter.parse("$", false),
                false)));
    }

    private static Records records(Optional<RecordProcessing> processing) {
        var formats = new TransformFormats(Optional.empty(), Optional.empty(), SplitType.LINE, false);
        return new Records(formats, processing, Optional.empty(), OptionalInt.empty(), false);
    }

    private static List<byte[]> sent(byte[] object, Splitting splitting) throws IOException {
        return miniBatches(object, splitting, none()).stream()
                .map(Payload::body)
                .toList();
    }

    private static List<Payload> miniBatches(byte[] object, Splitting splitting, Records job) throws IOException {
        var batches = new MiniBatches(new ByteArrayInputStream(object), splitting, job);
        var all = new ArrayList<Payload>();
        for (var payload = batches.next(Integer.MAX_VALUE);
                payload.isPresent();
                payload = batches.next(Integer.MAX_VALUE)) {
            all.add(payload.get());
        }
        assertThat(batches.next(Integer.MAX_VALUE)).isEmpty();
        return all;
    }
}
