package dev.berth.transform;

import java.util.Objects;
import java.util.Optional;

/// What a job says of its records and answers, in the API's words.
///
/// @param contentType `TransformInput.ContentType`
/// @param accept `TransformOutput.Accept`
/// @param splitType `TransformInput.SplitType`
/// @param assembleWith `TransformOutput.AssembleWith`
record TransformFormats(
    Optional<String> contentType, Optional<String> accept, SplitType splitType, AssembleWith assembleWith) {

  TransformFormats {
    Objects.requireNonNull(contentType, "contentType");
    Objects.requireNonNull(accept, "accept");
    Objects.requireNonNull(splitType, "splitType");
    Objects.requireNonNull(assembleWith, "assembleWith");
  }
}
