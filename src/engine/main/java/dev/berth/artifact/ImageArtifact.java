package dev.berth.artifact;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/// A traced model that takes pictures.
///
/// @param dynamic whether the only file takes any number of pictures
/// @param files one for each number of pictures, the smallest first
/// @param preparation what becomes of a picture before the model gets it
public record ImageArtifact(Header header, boolean dynamic, List<File> files, ImagePreparation preparation)
        implements TracedArtifact {

    /// @param batch the pictures that it takes at once; those of a dynamic one have no limit
    public record File(Path path, int batch) {}

    public ImageArtifact {
        files = files.stream().sorted(Comparator.comparingInt(File::batch)).toList();
    }

    /// Reads and checks the artifact in `directory`.
    ///
    /// @throws ModelArtifactException with everything that is wrong
    public static ImageArtifact open(Path directory) {
        return new Reader(directory).read();
    }

    @Override
    public List<Path> modelFiles() {
        return files.stream().map(File::path).toList();
    }

    @Override
    public OptionalInt largestBatch() {
        return dynamic ? OptionalInt.empty() : OptionalInt.of(files.getLast().batch);
    }

    @Override
    public String shownShapes() {
        var size = preparation.size();
        return dynamic
                ? "any batch of pictures of %d x %d pixels".formatted(size.width(), size.height())
                : files.stream()
                        .map(file -> "[%d, 3, %d, %d]".formatted(file.batch, size.height(), size.width()))
                        .collect(Collectors.joining(", "));
    }

    /// Reads the `model.json`. Used by one thread, once.
    private static final class Reader {

        private static final List<String> FILTERS =
                List.of("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos");
        private static final List<String> CHANNELS = List.of("rgb", "bgr");

        private final ModelJson json;

        Reader(Path directory) {
            this.json = ModelJson.read(directory).checkFormat();
        }

        ImageArtifact read() {
            boolean dynamic = choice(json.json().path("shapes"), "shapes", List.of("dynamic", "compiled"))
                    .equals("dynamic");
            var artifact = new ImageArtifact(
                    json.header(),
                    dynamic,
                    files(dynamic),
                    preparation(json.json().path("image")));
            if (dynamic && artifact.target().isNeuron()) {
                json.wrong("shapes", "\"compiled\" for " + artifact.target());
            }
            json.stopIfWrong();
            return artifact;
        }

        private List<File> files(boolean dynamic) {
            var listed = json.files();
            if (dynamic && listed.size() > 1) {
                json.problem("model.json: files: found %d, expected one that takes any number of pictures"
                        .formatted(listed.size()));
            }
            var files = new ArrayList<File>();
            for (int i = 0; i < listed.size(); i++) {
                var name = "files[%d]".formatted(i);
                files.add(new File(
                        json.modelFile(listed.path(i), name),
                        dynamic ? Integer.MAX_VALUE : json.integer(listed.path(i), "batch", name + ".batch")));
            }
            return files;
        }

        private ImagePreparation preparation(JsonNode image) {
            if (!image.isObject()) {
                json.wrong("image", "an object; trace the model again with this version's trace.py");
            }
            var preparation = new ImagePreparation(
                    resize(image.path("resize")),
                    image.has("resize") ? choice(image.path("filter"), "image.filter", FILTERS) : "nearest",
                    pillow(image.path("pillow")),
                    image.has("crop") ? Optional.of(size(image.path("crop"), "image.crop")) : Optional.empty(),
                    numbers(image.path("scale"), "image.scale", 1).getFirst(),
                    numbers(image.path("mean"), "image.mean", 3),
                    numbers(image.path("deviation"), "image.deviation", 3),
                    choice(image.path("channels"), "image.channels", CHANNELS).equals("bgr"));
            if (preparation.crop().isEmpty() && !(preparation.resize().orElse(null) instanceof ImagePreparation.Size)) {
                json.problem("model.json: image: found neither a crop nor a resize to a height and a width, expected"
                        + " pictures of one size");
            }
            if (preparation.deviation().contains(0.0)) {
                json.problem("model.json: image.deviation: found %s, expected no 0".formatted(preparation.deviation()));
            }
            return preparation;
        }

        private Optional<ImagePreparation.Resize> resize(JsonNode resize) {
            if (resize.isMissingNode()) {
                return Optional.empty();
            }
            return Optional.of(
                    resize.has("shorterSide")
                            ? new ImagePreparation.ShorterSide(
                                    json.integer(resize, "shorterSide", "image.resize.shorterSide"))
                            : size(resize, "image.resize"));
        }

        /// A version such as "12.3.0".
        private Optional<Integer> pillow(JsonNode version) {
            if (version.isMissingNode()) {
                return Optional.empty();
            }
            var major = version.asText().split("\\.", 2)[0];
            if (!version.isTextual() || !major.matches("[0-9]{1,4}")) {
                json.wrong("image.pillow", version, "a version such as \"12.3.0\"");
                return Optional.empty();
            }
            return Optional.of(Integer.valueOf(major));
        }

        private ImagePreparation.Size size(JsonNode size, String name) {
            return new ImagePreparation.Size(
                    json.integer(size, "height", name + ".height"), json.integer(size, "width", name + ".width"));
        }

        private String choice(JsonNode value, String name, List<String> choices) {
            if (!value.isTextual() || !choices.contains(value.textValue())) {
                json.wrong(name, value, "one of " + String.join(", ", choices));
            }
            return value.asText();
        }

        /// A number, or a list of so many.
        private List<Double> numbers(JsonNode value, String name, int count) {
            var values = value.isArray() ? value.valueStream().toList() : List.of(value);
            boolean areNumbers =
                    values.stream().allMatch(number -> number.isNumber() && Double.isFinite(number.doubleValue()));
            if (values.size() != count || !areNumbers) {
                json.wrong(name, value, count == 1 ? "a number" : "a list of %d numbers".formatted(count));
                return Collections.nCopies(count, 1.0);
            }
            return values.stream().map(JsonNode::doubleValue).toList();
        }
    }
}
