package dev.berth.handler.image;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.ModelJson;
import dev.berth.artifact.Shapes;
import dev.berth.artifact.TracedArtifact;
import dev.berth.image.Filter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A traced model that takes pictures.
///
/// @param preparation what becomes of a picture before the model gets it
record ImageArtifact(Header header, Shapes shapes, Preparation preparation) implements TracedArtifact {

    private static final List<String> FILTERS = Stream.of(Filter.values())
            .map(filter -> filter.name().toLowerCase(Locale.ROOT))
            .toList();
    private static final List<String> CHANNELS = List.of("rgb", "bgr");

    /// Reads and checks the artifact in `directory`.
    ///
    /// @throws ModelArtifactException with everything that is wrong
    static ImageArtifact open(Path directory) {
        var json = ModelJson.read(directory).checkFormat();
        var header = Header.read(json);
        var artifact = new ImageArtifact(
                header,
                Shapes.read(json, header.target(), 1, _ -> 1),
                preparation(json.at("image", "an object; trace the model again with this version's trace.py")));
        json.stopIfWrong();
        return artifact;
    }

    private static Preparation preparation(ModelJson image) {
        var preparation = new Preparation(
                image.has("resize") ? Optional.of(resize(image.at("resize", "an object"))) : Optional.empty(),
                image.has("resize") ? filter(image) : Filter.NEAREST,
                image.has("crop") ? Optional.of(size(image.at("crop", "an object"))) : Optional.empty(),
                new Preparation.Numbers(
                        image.value("scale", ImageArtifact::isFinite, "a number")
                                .asDouble(1),
                        numbers(image, "mean"),
                        numbers(image, "deviation"),
                        image.choice("channels", CHANNELS).equals("bgr")));
        if (preparation.crop().isEmpty() && !(preparation.resize().orElse(null) instanceof Preparation.Size)) {
            image.problem(
                    "image: found neither a crop nor a resize to a height and a width, expected pictures of one size");
        }
        if (preparation.numbers().deviation().contains(0.0)) {
            image.problem("image.deviation: found %s, expected no 0"
                    .formatted(preparation.numbers().deviation()));
        }
        return preparation;
    }

    private static Preparation.Resize resize(ModelJson resize) {
        return resize.has("shorterSide") ? new Preparation.ShorterSide(resize.integer("shorterSide")) : size(resize);
    }

    private static Preparation.Size size(ModelJson size) {
        return new Preparation.Size(size.integer("height"), size.integer("width"));
    }

    private static Filter filter(ModelJson image) {
        var name = image.choice("filter", FILTERS);
        return FILTERS.contains(name) ? Filter.valueOf(name.toUpperCase(Locale.ROOT)) : Filter.NEAREST;
    }

    private static boolean isFinite(JsonNode value) {
        return value.isNumber() && Double.isFinite(value.doubleValue());
    }

    /// A number for each colour.
    private static List<Double> numbers(ModelJson image, String field) {
        var list = image.value(
                field,
                value -> value.isArray()
                        && value.size() == 3
                        && value.valueStream().allMatch(ImageArtifact::isFinite),
                "a list of 3 numbers");
        return IntStream.range(0, 3).mapToObj(i -> list.path(i).asDouble(1)).toList();
    }

    @Override
    public String shownShapes() {
        var size = preparation.size();
        return shapes.isDynamic()
                ? "any batch of pictures of %d x %d pixels".formatted(size.width(), size.height())
                : shapes.files().stream()
                        .map(file -> "[%d, 3, %d, %d]".formatted(file.batch(), size.height(), size.width()))
                        .collect(Collectors.joining(", "));
    }
}
