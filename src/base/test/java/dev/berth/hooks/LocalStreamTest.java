package dev.berth.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.testing.SpellingHandler;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What a handler that streams answers without a server.
class LocalStreamTest {

    private final SpellingHandler handler = new SpellingHandler();

    @Test
    void aLocalModelPutsThePartsTogether() throws Exception {
        try (var model = LocalModel.load(handler, Path.of("."))) {
            assertThat(model.invoke(MediaType.JSON, "abc\n\nde")).isEqualTo("ABC\n\nDE");
        }
        assertThat(handler.open()).isZero();
        assertThat(handler.steps().getFirst()).containsExactly("abc", "", "de");
        assertThat(handler.steps().getLast()).containsExactly("abc");
    }

    @Test
    void whatARecordFailsWithComesOutAndNothingStaysOpen() throws Exception {
        try (var model = LocalModel.load(handler, Path.of("."))) {
            assertThatThrownBy(() -> model.invoke(MediaType.JSON, "abc\na?"))
                    .isInstanceOf(BadInputException.class)
                    .hasMessage("line: found a ?, expected letters");
            assertThatThrownBy(() -> model.invoke(MediaType.JSON, "abc\n0")).isInstanceOf(BadInputException.class);
            assertThatThrownBy(() -> model.invoke(MediaType.JSON, "!")).hasMessage("no such letter");
        }
        assertThat(handler.open()).isZero();
    }

    @Test
    void aPartAfterTheEndIsRefused() {
        var late = new SpellingHandler() {
            @Override
            public void stepFn(List<PartStream<Spelling, String>> streams, Object model) {
                streams.getFirst().end();
                streams.getFirst().emit("late");
            }
        };
        assertThatThrownBy(() -> late.predictFn(List.of("abc"), late))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("found a part after the end of its stream");
        assertThat(late.open()).isZero();
    }
}
