package dev.berth.artifact.code;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.TransformHandler;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/// The class that is an artifact's handler: checks it, and makes the handler.
record HandlerClass(Path modelDirectory, String name, HookClassLoader loader) {

    private static final Set<String> EXCLUDED_BY_TRANSFORM = Set.of("inputFn", "predictFn", "outputFn");

    /// Makes the handler. Meanwhile libraries that look for services find those of the artifact.
    InferenceHandler<?, ?, ?> create() throws Exception {
        var thread = Thread.currentThread();
        var outer = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            var type = load();
            check(type);
            return (InferenceHandler<?, ?, ?>) make(constructor(type));
        } finally {
            thread.setContextClassLoader(outer);
        }
    }

    private Class<?> load() {
        try {
            return Class.forName(name, true, loader);
        } catch (ClassNotFoundException e) {
            throw problem("found no such class in code/");
        } catch (Throwable e) {
            var told = ThrownByHook.ask(e);
            throw problem("it can't be loaded" + Thrown.at(told), told);
        }
    }

    private void check(Class<?> type) {
        if (type.getClassLoader() != loader) {
            throw problem(
                    "found a class of the server's own, which goes before one of that name in code/; expected another");
        }
        if (!InferenceHandler.class.isAssignableFrom(type)) {
            throw problem("found a class that implements neither InferenceHandler nor TransformHandler and extends no "
                    + "built-in handler, expected one that does");
        }
        if (Modifier.isAbstract(type.getModifiers())) {
            throw problem("found %s, expected a class that can be made"
                    .formatted(type.isInterface() ? "an interface" : "an abstract class"));
        }
        if (TransformHandler.class.isAssignableFrom(type)) {
            checkTransform(type);
        }
    }

    /// HOOK-02: as in Python, where `transform_fn` beside one of the three is an error.
    private void checkTransform(Class<?> type) {
        var besides = Arrays.stream(type.getMethods())
                .filter(method -> EXCLUDED_BY_TRANSFORM.contains(method.getName()) && !method.isBridge())
                .filter(method -> method.getDeclaringClass() != TransformHandler.class)
                .map(Method::getName)
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
        if (!besides.isEmpty()) {
            throw problem(
                    "found transformFn and besides it %s, expected either transformFn or those".formatted(besides));
        }
    }

    private Constructor<?> constructor(Class<?> type) {
        try {
            return type.getDeclaredConstructor(Path.class);
        } catch (NoSuchMethodException _) {
            try {
                return type.getDeclaredConstructor();
            } catch (NoSuchMethodException e) {
                var found = Arrays.stream(type.getDeclaredConstructors())
                        .map(constructor -> Arrays.stream(constructor.getParameterTypes())
                                .map(Class::getSimpleName)
                                .collect(Collectors.joining(", ", type.getSimpleName() + "(", ")")))
                        .toList();
                throw problem(
                        "found the constructors %s, expected one that takes a Path, the model directory, or nothing"
                                .formatted(found));
            }
        }
    }

    private Object make(Constructor<?> constructor) throws Exception {
        // Neither the class nor its constructor need be public.
        constructor.setAccessible(true);
        try {
            return constructor.getParameterCount() == 0
                    ? constructor.newInstance()
                    : constructor.newInstance(modelDirectory);
        } catch (InvocationTargetException e) {
            throw thrown(e.getCause());
        }
    }

    /// What a built-in handler's constructor says of the artifact stays as it is.
    private Exception thrown(Throwable cause) {
        var told = ThrownByHook.ask(cause);
        return told instanceof RuntimeException known && Thrown.isOfTheServer(known)
                ? known
                : problem("its constructor failed" + Thrown.at(told), told);
    }

    private ModelArtifactException problem(String message) {
        return problem(message, null);
    }

    /// The class, the file that it comes from, and what is wrong with it.
    private ModelArtifactException problem(String message, Throwable cause) {
        var shown = loader.shownFile(name)
                .map(file -> "%s: class %s".formatted(file, name))
                .orElse(name);
        return new ModelArtifactException(modelDirectory, "%s: %s".formatted(shown, message), cause);
    }
}
