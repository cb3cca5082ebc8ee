package dev.berth.model;

import dev.berth.code.HookPlace;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.TransformHandler;
import java.lang.reflect.Method;
import java.util.Arrays;

/// What messages call a handler's hooks: `predictFn`, or `predictFn (code/Inference.java)` where the artifact has its
/// own.
record HookNames(String inputFn, String predictFn, String outputFn, String length) {

  static HookNames of(InferenceHandler<?, ?, ?> handler) {
    var type = handler.getClass();
    return new HookNames(
        name(type, "inputFn", 1),
        handler instanceof TransformHandler<?> ? name(type, "transformFn", 2) : name(type, "predictFn", 2),
        name(type, "outputFn", 2),
        name(type, "length", 1));
  }

  private static String name(Class<?> type, String hook, int parameters) {
    return Arrays.stream(type.getMethods())
        .filter(method -> method.getName().equals(hook) && method.getParameterCount() == parameters && !method.isBridge())
        .findFirst()
        .map(Method::getDeclaringClass)
        .flatMap(HookPlace::file)
        .map(file -> "%s (%s)".formatted(hook, file))
        .orElse(hook);
  }
}
