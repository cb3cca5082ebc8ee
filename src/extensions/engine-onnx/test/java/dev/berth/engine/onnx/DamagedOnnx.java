package dev.berth.engine.onnx;

import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.Tensor;
import dev.berth.testing.OnnxModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/// Loads and runs models with some bytes changed, again and again: `DamagedOnnx DIRECTORY COUNT`.
final class DamagedOnnx {

    private DamagedOnnx() {}

    public static void main(String[] arguments) throws Exception {
        var directory = Path.of(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        var models = List.of(OnnxModel.linear().toBytes(), convolution().toBytes());
        var inputs = List.of(Tensor.of(new float[] {1, 2}, 1, 2), Tensor.of(new float[2 * 5 * 5], 1, 2, 5, 5));
        var cpu = new Accelerator.Cpu(1, CpuProfile.ADAPTIVE);
        int loaded = 0;
        int ran = 0;
        for (int seed = 0; seed < count; seed++) {
            var random = new Random(seed);
            var bytes = damaged(models.get(seed % 2), random);
            var file = Files.write(directory.resolve("model.onnx"), bytes);
            try (var model = Graph.load(file, cpu)) {
                loaded++;
                model.forward(List.of(inputs.get(seed % 2)));
                ran++;
            } catch (EngineException | InsufficientMemoryException e) {
                if (e.getMessage().lines().count() != 1) {
                    throw new IllegalStateException("seed %d".formatted(seed), e);
                }
            }
        }
        System.out.println("%d damaged files, %d loaded, %d ran".formatted(count, loaded, ran));
    }

    private static byte[] damaged(byte[] model, Random random) {
        var bytes = model.clone();
        for (int i = 0; i <= random.nextInt(3); i++) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(4)) {
                case 0 -> bytes[at] = (byte) random.nextInt();
                case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 2 -> bytes[at] += (byte) (random.nextBoolean() ? 1 : -1);
                default -> bytes = Arrays.copyOf(bytes, Math.max(1, bytes.length - random.nextInt(8)));
            }
        }
        return bytes;
    }

    private static OnnxModel convolution() {
        return OnnxModel.of("""
                in x FLOAT 1 2 5 5; Conv x w -> a kernel_shape=[3,3] pads=[1,1,1,1]; Relu a -> b;
                MaxPool b -> c kernel_shape=[2,2] strides=[2,2]; Flatten c -> d axis=1;
                Softmax d -> y axis=-1; out y FLOAT 1 8""").weights("w", new float[2 * 2 * 3 * 3], 2, 2, 3, 3);
    }
}
