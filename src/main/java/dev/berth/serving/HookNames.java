package dev.berth.serving;

import dev.berth.artifact.code.HookPlace;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.StreamingHandler;
import dev.berth.hooks.TransformHandler;
import java.lang.reflect.Method;
import java.util.Arrays;

/// What messages call a handler's hooks: `predictFn`, or `predictFn (code/Inference.java)` where
/// the artifact has its own.
record HookNames(
    String modelFn,
    String warmUpFn,
    String inputFn,
    String split,
    String length,
    String predictFn,
    String join,
    String outputFn,
    String partFn,
    String requestTypes,
    String responseTypes,
    String openAiPaths,
    String openSession,
    String closeSession,
    String sessionTimeToLive,
    String sessionBytes) {

  static HookNames of(InferenceHandler<?, ?, ?> handler) {
    var type = handler.getClass();
    return new HookNames(
        name(type, "modelFn", 1),
        name(type, "warmUpFn", 1),
        name(type, "inputFn", 1),
        name(type, "split", 1),
        name(type, "length", 1),
        predicting(handler, type),
        name(type, "join", 2),
        name(type, "outputFn", 2),
        name(type, "partFn", 3),
        name(type, "requestTypes", 0),
        name(type, "responseTypes", 0),
        name(type, "openAiPaths", 0),
        name(type, "openSession", 1),
        "close of the session",
        name(type, "sessionTimeToLive", 0),
        name(type, "sessionBytes", 1));
  }

  private static String predicting(InferenceHandler<?, ?, ?> handler, Class<?> type) {
    return switch (handler) {
      case TransformHandler<?> _ -> name(type, "transformFn", 2);
      case StreamingHandler<?, ?, ?, ?> _ -> name(type, "stepFn", 2);
      default -> name(type, "predictFn", 2);
    };
  }

  private static String name(Class<?> type, String hook, int parameters) {
    return Arrays.stream(type.getMethods())
        .filter(method -> method.getName().equals(hook) && method.getParameterCount() == parameters)
        .filter(method -> !method.isBridge())
        .findFirst()
        .map(Method::getDeclaringClass)
        .flatMap(HookPlace::file)
        .map(file -> "%s (%s)".formatted(hook, file))
        .orElse(hook);
  }
}
