package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.content.RecordReader;
import dev.berth.content.RecordReader.Frames;
import dev.berth.storage.Storage;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SplitTypeTest {

    /// A type of an extension, with an option of its own.
    private record Elements(String name) implements SplitType {

        @Override
        public String toString() {
            return name.isEmpty() ? "Xml" : "Xml " + name;
        }

        @Override
        public Optional<Option> option() {
            return Optional.of(new Option("--xml-element", "<name>", "The element that is a record"));
        }

        @Override
        public SplitType with(String value) {
            if (value.isBlank()) {
                throw new IllegalArgumentException("found nothing, expected a name");
            }
            return new Elements(value);
        }

        @Override
        public RecordReader open(InputStream object, Frames frames, int maxBytes) {
            return FramedSplit.NONE.open(object, frames, maxBytes);
        }
    }

    @Test
    void aTypeOfAnExtensionGetsTheValueOfItsOption() throws Exception {
        assertThat(read("Xml", "row")).isEqualTo(new Elements("row"));
        assertThatThrownBy(() -> read("Xml", " "))
                .hasMessageContaining("--xml-element: found nothing, expected a name");
        assertThatThrownBy(() -> read("Line", "row"))
                .hasMessageContaining("--xml-element: found it with --split-type Line, expected none");
    }

    private static SplitType read(String word, String element) {
        var reader = new JobReader(
                new Storage(),
                Map.of(JobOption.INPUT, "in", JobOption.SPLIT_TYPE, word),
                Map.of("--xml-element", element));
        var type = reader.splitType(List.of(FramedSplit.LINE, new Elements("")));
        reader.requireNoProblem();
        return type;
    }
}
