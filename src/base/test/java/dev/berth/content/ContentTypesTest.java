package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentType.OfTensors;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.NotAcceptableException;
import dev.berth.hooks.Tensor;
import dev.berth.hooks.UnsupportedMediaTypeException;
import dev.berth.json.JsonText;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ContentTypesTest {

    @Test
    void everyMediaTypeAndFileEndingIsThereOnce() {
        assertThat(ContentTypes.all())
                .flatExtracting(ContentType::mediaTypes)
                .doesNotHaveDuplicates()
                .allSatisfy(type -> assertThat(type.isRange()).isFalse())
                .allSatisfy(type -> assertThat(type).isEqualTo(type.withoutParameters()));
        assertThat(ContentTypes.all())
                .flatExtracting(ContentType::fileEndings)
                .doesNotHaveDuplicates()
                .contains("json", "jsonl", "csv", "txt", "png", "jpg", "jpeg", "gif", "bmp", "webp");
        assertThat(ContentTypes.all())
                .allSatisfy(type -> assertThat(type.mediaTypes()).isNotEmpty());
    }

    @Test
    void whatCanNotBeReadOrWrittenNamesWhatCan() {
        var picture = request("image/png; x=y");
        assertThatThrownBy(() -> ContentTypes.reading(picture, OfDocuments.class))
                .isInstanceOf(UnsupportedMediaTypeException.class)
                .hasMessage("Content-Type: found image/png, expected one of [application/json,"
                        + " application/jsonlines, application/jsonl, application/x-ndjson, text/csv]");
        assertThatThrownBy(() -> ContentTypes.writing(picture, OfTensors.class))
                .isInstanceOf(NotAcceptableException.class)
                .hasMessageMatching("Accept: found image/png.*, expected one of \\[application/json,.* text/csv.*");
    }

    /// Through each type that does both.
    @Test
    void tensorsComeBackAsTheyWere() throws IOException {
        var inputs = new TensorInputs(List.of("x"), List.of(ElementType.FLOAT32));
        var records = List.of(List.of(Tensor.of(new float[] {1, 2}, 2)), List.of(Tensor.of(new float[] {3, 4}, 2)));
        var predictions = new TensorPredictions(
                records, List.of("x"), Instances.Form.LIST, Collections.emptySortedMap(), List.of(), false);
        for (var name : ContentTypes.mediaTypes(OfTensors.class)) {
            var request = request(name.toString());
            var body = ContentTypes.writing(request, OfTensors.class)
                    .writeTensors(predictions, name)
                    .body();
            var read = ContentTypes.reading(request, OfTensors.class)
                    .readTensors(request.withBody(new ByteArrayInputStream(body)), inputs);
            assertThat(IntStream.range(0, read.count()).mapToObj(read.record()))
                    .as(name.toString())
                    .containsExactlyElementsOf(records);
        }
    }

    /// Through each type that does both.
    @Test
    void documentsComeBackAsTheyWere() throws IOException {
        record Song(String title, String singer) {}
        var fields = List.of("title", "singer");
        var songs = List.of(new Song("Cry, cry", "Eve"), new Song("Is \"it\"?", "Bob"));
        for (var name : ContentTypes.mediaTypes(OfDocuments.class)) {
            var request = request(name.toString());
            var body = ContentTypes.writing(request, OfDocuments.class)
                    .writeDocuments(songs, fields, Instances.Form.LIST, name)
                    .body();
            var read = ContentTypes.reading(request, OfDocuments.class)
                    .readDocuments(request.withBody(new ByteArrayInputStream(body)), fields);
            var documents = switch (read) {
                case Documents.Body(var json) -> json.valueStream().toList();
                case Documents.Records(var all) ->
                    all.stream().map(Documents.Document::json).toList();
            };
            assertThat(documents)
                    .as(name.toString())
                    .isEqualTo(songs.stream().map(JsonText::tree).toList());
        }
    }

    private static InvocationRequest request(String name) {
        var type = MediaType.parse(name).orElseThrow();
        return new InvocationRequest(InputStream.nullInputStream(), type, type, Optional.empty(), "test", false);
    }
}
