package dev.berth.config;

import java.util.Optional;

/// What a platform other than SageMaker asks for: the paths of a Vertex AI container.
///
/// @param healthRoute a path that answers as `/ping` does
/// @param predictRoute a path that takes `{"instances": […]}` and answers `{"predictions": […]}`
public record PlatformConfig(Optional<String> healthRoute, Optional<String> predictRoute) {}
