package dev.berth.http;

/// The model that a request asks.
///
/// @param model the model's name, as the client has it
/// @param version of the model
public record ModelTarget(String model, String version) {

    /// The version of every model.
    public static final String VERSION = "1";
}
