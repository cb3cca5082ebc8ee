package dev.berth.http;

import dev.berth.hooks.MediaType;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The request that an artifact brings along, such as `sample.json`.
///
/// @param types what the file may be sent as, the usual one first
/// @param response the file of the expected response
public record SampleFile(Path file, List<MediaType> types, Optional<Path> response) {

    /// Finds the sample of an artifact.
    @FunctionalInterface
    public interface Finder {
        /// Nothing where there is none, or none that can be read.
        ///
        /// @param readable the content types that the hooks read; empty: any
        Optional<SampleFile> in(Path directory, List<MediaType> readable);
    }

    public SampleFile {
        types = List.copyOf(types);
    }

    /// The type to send it as.
    ///
    /// @param readable the content types that the hooks read; empty: any
    public MediaType type(List<MediaType> readable) {
        return types.stream()
                .filter(type -> readable.isEmpty() || readable.contains(type))
                .findFirst()
                .orElse(types.getFirst());
    }
}
