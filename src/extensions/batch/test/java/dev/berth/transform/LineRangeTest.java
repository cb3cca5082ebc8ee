package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.content.RecordReader;
import dev.berth.hooks.BadInputException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// That ranges of lines have together what the whole has, wherever they are cut.
class LineRangeTest {

    private static final int ANY_LENGTH = 1 << 20;

    private record Line(long number, String text) {}

    @Test
    void manyRangesHaveAllLinesWhereverTheyAreCut() throws IOException {
        var random = new Random(11);
        for (int i = 0; i < 2000; i++) {
            var text = new StringBuilder();
            for (int line = random.nextInt(12); line > 0; line--) {
                var word = List.of("x", "é", "日本").get(random.nextInt(3));
                text.append(random.nextInt(3) == 0 ? " ".repeat(random.nextInt(2)) : word.repeat(random.nextInt(9)))
                        .append(random.nextInt(4) == 0 ? "\r\n" : "\n");
            }
            text.append("x".repeat(random.nextInt(3)));
            int length = text.toString().getBytes(UTF_8).length;
            var cuts = new ArrayList<>(IntStream.range(0, random.nextInt(9))
                    .map(_ -> random.nextInt(length + 1))
                    .sorted()
                    .boxed()
                    .toList());
            cuts.addFirst(0);
            cuts.addLast(length);
            assertThat(ranges(text.toString(), cuts))
                    .as("%s cut at %s", text, cuts)
                    .isEqualTo(whole(text.toString()));
        }
    }

    @Test
    void moreBlankLinesThanAreHeldAreTheSameRecords() throws IOException {
        for (var text : List.of("a\n" + "\n".repeat(150_000) + "b", "a\n" + "\n".repeat(150_000))) {
            assertThat(ranges(text, List.of(0, 1, 2, 3, 70_000, 100_000, text.length())))
                    .isEqualTo(whole(text));
        }
    }

    @Test
    void aLineThatIsTooLongIsNamedByItsPlaceInTheObject() {
        var text = "ab\ncd\nefghijkl\nm\n";
        assertThatThrownBy(() -> range(text, 4, 17, 5))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 3: found more than 5 bytes, expected at most 5 in one record");
    }

    private static List<Line> whole(String text) throws IOException {
        var reader = new LineReader(new ByteArrayInputStream(text.getBytes(UTF_8)), ANY_LENGTH);
        return lines(reader, 0);
    }

    private static List<Line> ranges(String text, List<Integer> cuts) throws IOException {
        var all = new ArrayList<Line>();
        for (int i = 0; i + 1 < cuts.size(); i++) {
            all.addAll(range(text, cuts.get(i), cuts.get(i + 1), ANY_LENGTH));
        }
        return all;
    }

    private static List<Line> range(String text, int start, int end, int most) throws IOException {
        var bytes = text.getBytes(UTF_8);
        int before = Math.max(0, start - 1);
        long newlines = new String(Arrays.copyOf(bytes, before), UTF_8)
                .chars()
                .filter(c -> c == '\n')
                .count();
        var range = new LineReader(new ByteArrayInputStream(bytes, before, bytes.length), start, end, newlines, most);
        return lines(range, range.linesBefore());
    }

    private static List<Line> lines(RecordReader reader, long before) throws IOException {
        var lines = new ArrayList<Line>();
        for (var line = reader.next(); line.isPresent(); line = reader.next()) {
            lines.add(new Line(before + lines.size() + 1, new String(line.get(), UTF_8)));
        }
        return lines;
    }
}
