package dev.berth.content;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.NotAcceptableException;
import dev.berth.hooks.UnsupportedMediaTypeException;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/// The one list of content types. Whoever needs one asks here: handlers by media type and by what
/// they do with it, `serve check` by the ending of a sample file.
public final class ContentTypes {

    private static final List<ContentType> ALL = Stream.concat(
                    Stream.of(
                            new Json(),
                            new JsonLines(),
                            new CsvType(),
                            new Libsvm(),
                            new ContentType(List.of(MediaType.TEXT), List.of("txt")),
                            new ContentType(
                                    List.of(MediaType.IMAGE), List.of("png", "jpg", "jpeg", "gif", "bmp", "webp"))),
                    ServiceLoader.load(ContentType.class, ContentType.class.getClassLoader()).stream()
                            .map(ServiceLoader.Provider::get))
            .toList();

    private ContentTypes() {}

    /// All of them, those that callers use most first.
    public static List<ContentType> all() {
        return ALL;
    }

    /// The names of those with a capability, such as [ContentType.OfTensors].
    public static List<MediaType> mediaTypes(Class<?> capability) {
        return ALL.stream()
                .filter(capability::isInstance)
                .flatMap(type -> type.mediaTypes().stream())
                .toList();
    }

    /// The type of a request's body.
    ///
    /// @throws UnsupportedMediaTypeException when none of that name has the capability
    public static <T> T reading(InvocationRequest request, Class<T> capability) {
        return find(request.contentType(), capability)
                .orElseThrow(() -> new UnsupportedMediaTypeException("Content-Type: found %s, expected one of %s"
                        .formatted(request.contentType().withoutParameters(), mediaTypes(capability))));
    }

    /// The type of the response to a request.
    ///
    /// @throws NotAcceptableException when none of that name has the capability
    public static <T> T writing(InvocationRequest request, Class<T> capability) {
        return find(request.accept(), capability)
                .orElseThrow(() -> new NotAcceptableException(
                        "Accept: found %s, expected one of %s".formatted(request.accept(), mediaTypes(capability))));
    }

    /// Whether a bad record of the request becomes an error in its place. Only lines can fail
    /// alone.
    public static boolean keepsBadRecords(InvocationRequest request) {
        return request.keepBadRecords()
                && find(request.contentType(), ContentType.OfLines.class).isPresent();
    }

    private static <T> Optional<T> find(MediaType name, Class<T> capability) {
        return ALL.stream()
                .filter(capability::isInstance)
                // The parameters of the name do not count.
                .filter(type -> type.mediaTypes().stream().anyMatch(known -> known.includes(name)))
                .findFirst()
                .map(capability::cast);
    }
}
