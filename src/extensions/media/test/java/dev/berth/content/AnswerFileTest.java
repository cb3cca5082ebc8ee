package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.MediaType;
import dev.berth.hooks.NotAcceptableException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerFileTest {

    private static final MediaType PNG = MediaType.of("image", "png");
    private static final AnswerFile ONE = new AnswerFile("é 1.png", PNG, new byte[] {1, '\r', '\n', '-', '-'});
    private static final AnswerFile OTHER = new AnswerFile("É 1.png", PNG, new byte[0]);

    @Test
    void severalAreAnArchiveWhoseNamesAreUnique() throws IOException {
        var archive = AnswerFile.write(List.of(ONE, OTHER, OTHER), AnswerFile.ZIP);
        assertThat(archive.contentType()).hasToString("application/zip");
        var names = new ArrayList<String>();
        try (var zip = new ZipInputStream(new ByteArrayInputStream(archive.body()))) {
            for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                names.add(entry.getName());
                assertThat(zip.readAllBytes()).isEqualTo(names.size() == 1 ? ONE.bytes() : OTHER.bytes());
            }
        }
        assertThat(names).containsExactly("é 1.png", "É 1-2.png", "É 1-3.png");
        assertThat(AnswerFile.write(List.of(ONE, OTHER, OTHER), AnswerFile.ZIP).body())
                .as("the same files are the same archive")
                .isEqualTo(archive.body());
    }

    @Test
    void severalAreThePartsOfAMultipartBody() {
        var answer = AnswerFile.write(List.of(ONE, OTHER), AnswerFile.MULTIPART);
        var boundary = answer.contentType().parameters().get("boundary");
        assertThat(answer.contentType().sameTypeAs(AnswerFile.MULTIPART)).isTrue();
        assertThat(new String(answer.body(), StandardCharsets.UTF_8))
                .isEqualTo(
                        "--%1$s\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=\"é 1.png\"\r\n\r\n\u0001\r\n--\r\n"
                                        .formatted(boundary)
                                + "--%1$s\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=\"É 1-2.png\"\r\n\r\n\r\n--%1$s--\r\n"
                                        .formatted(boundary));
    }

    @Test
    void oneIsTheAnswerItselfWhereItIsOfThatType() {
        assertThat(AnswerFile.write(List.of(ONE), MediaType.of("image", "*")).body())
                .isSameAs(ONE.bytes());
        assertThat(AnswerFile.write(List.of(ONE), PNG).contentType()).isEqualTo(PNG);
        assertThatThrownBy(() -> AnswerFile.write(List.of(ONE, OTHER), PNG))
                .isInstanceOf(NotAcceptableException.class)
                .hasMessage(
                        "Accept: found image/png for 2 files, expected application/zip or multipart/mixed, which hold several");
        assertThatThrownBy(() -> AnswerFile.write(List.of(), PNG)).isInstanceOf(NotAcceptableException.class);
        assertThatThrownBy(() -> AnswerFile.write(List.of(ONE), MediaType.JSON))
                .isInstanceOf(NotAcceptableException.class)
                .hasMessage("Accept: found application/json, expected image/png, which the answer is");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "../x", "a\\b", "a\"b", "a\nb"})
    void aNameThatWouldBreakOutIsRefused(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AnswerFile(name, PNG, new byte[0]))
                .withMessageStartingWith("name: found");
    }
}
