package dev.berth.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.hooks.Tensor;
import java.lang.ref.Reference;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Measures what the things take of the heap that `dev.berth.memory.HeapSize` has figures for.
///
///     java -XX:+UseSerialGC -cp target/berth.jar tools/bench/java/dev/berth/bench/HeapSizes.java
///
/// Makes 200,000 of each in one list, and prints the bytes that stay after a collection, for each. So the place in the
/// list is part of it.
final class HeapSizes {

    private static final int COUNT = 200_000;

    private static final JsonMapper JSON = JsonMapper.builder().build();

    static void main() {
        json("number", i -> "1." + i);
        json("text of 6 characters", i -> "\"%d\"".formatted(100_000 + i));
        json("empty list", _ -> "[]");
        json("list of 1", _ -> "[true]");
        json("empty object", _ -> "{}");
        json("object of 1 member", _ -> "{\"a\":true}");
        measure(
                "member with a name of 6 characters",
                () -> tree(IntStream.range(0, COUNT)
                        .mapToObj(i -> "\"%d\":true".formatted(100_000 + i))
                        .collect(Collectors.joining(",", "{", "}"))));
        all("boxed number", i -> i + 0.5);
        all("text of 6 characters", i -> String.valueOf(100_000 + i));
        all("cells of a row of 1", i -> new String[] {String.valueOf(100_000 + i)});
        all("tensor of 1 float32", i -> Tensor.of(new float[] {i}, 1));
    }

    private static void json(String name, IntFunction<String> value) {
        measure(
                "JSON: " + name,
                () -> tree(IntStream.range(0, COUNT).mapToObj(value).collect(Collectors.joining(",", "[", "]"))));
    }

    private static Object tree(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void all(String name, IntFunction<Object> one) {
        measure(name, () -> IntStream.range(0, COUNT).mapToObj(one).collect(Collectors.toList()));
    }

    private static void measure(String name, Supplier<Object> make) {
        long bytes = 0;
        // The first turn also leaves buffers of the parser behind.
        for (int turn = 0; turn < 2; turn++) {
            long before = used();
            var made = make.get();
            try {
                bytes = used() - before;
            } finally {
                Reference.reachabilityFence(made);
            }
        }
        System.out.printf("%-45s %6.1f%n", name, bytes / (double) COUNT);
    }

    private static long used() {
        for (int i = 0; i < 4; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
