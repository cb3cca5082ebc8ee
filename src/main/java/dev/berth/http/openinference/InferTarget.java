package dev.berth.http.openinference;

/// What an answer says it comes from.
///
/// @param model the model's name, as the client has it
/// @param version of the model
public record InferTarget(String model, String version) {

  /// The version of every model.
  public static final String VERSION = "1";
}
