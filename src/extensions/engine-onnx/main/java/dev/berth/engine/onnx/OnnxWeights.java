package dev.berth.engine.onnx;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxTensorLike;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.berth.hooks.Accelerator;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// The weights of a model that are in files beside it, in memory that all its sessions share.
///
/// ONNX Runtime would map the files. Where another program then writes to one, the model's answers
/// change, and where it cuts one, the process ends.
final class OnnxWeights implements AutoCloseable {

    /// What kernels may expect, and the page from which a mapped file begins.
    private static final int ALIGNMENT = 4096;

    /// A buffer's most is less than 2 GiB.
    private static final long MOST_AT_ONCE = 1 << 30;

    private final Arena arena = Arena.ofShared();
    private final Map<String, MemorySegment> files = new HashMap<>();
    private final Map<String, OnnxTensorLike> tensors = new HashMap<>();

    /// Reads those that it can. The others are left to ONNX Runtime, which says what is wrong with
    /// them, or maps them.
    void read(OrtEnvironment environment, Path file, Iterable<OnnxTensorProto> weights)
            throws IOException, OrtException {
        for (var each : weights) {
            long size = each.bytes();
            if (size <= 0 || size > Integer.MAX_VALUE) {
                continue;
            }
            var location = each.location().orElseThrow();
            var content = files.get(location);
            if (content == null) {
                content = content(file.resolveSibling(location));
                files.put(location, content);
            }
            if (each.offset() < 0 || each.offset() > content.byteSize() - size) {
                continue;
            }
            tensors.put(
                    each.name(),
                    OnnxTensor.createTensor(
                            environment,
                            content.asSlice(each.offset(), size).asByteBuffer().order(ByteOrder.nativeOrder()),
                            each.shape().stream().mapToLong(Long::longValue).toArray(),
                            each.type().made()));
        }
    }

    private MemorySegment content(Path file) throws IOException {
        try (var channel = FileChannel.open(file)) {
            var content = arena.allocate(channel.size(), ALIGNMENT);
            for (long at = 0; at < content.byteSize(); ) {
                long size = Math.min(MOST_AT_ONCE, content.byteSize() - at);
                int count = channel.read(content.asSlice(at, size).asByteBuffer());
                if (count < 0) {
                    break;
                }
                at += count;
            }
            return content;
        }
    }

    /// Has a session take them in place of what is in the files. On a CPU it has no copy of its own
    /// when it is made.
    void giveTo(OrtSession.SessionOptions options, Accelerator accelerator) throws OrtException {
        if (tensors.isEmpty()) {
            return;
        }
        // Of these the model is optimized, and then makes a copy for a device.
        options.addExternalInitializers(tensors);
        if (accelerator instanceof Accelerator.Cpu) {
            for (var tensor : tensors.entrySet()) {
                options.addInitializer(tensor.getKey(), tensor.getValue());
            }
        }
    }

    int count() {
        return tensors.size();
    }

    /// On a CPU only when no session is left.
    @Override
    public void close() {
        tensors.values().forEach(OnnxTensorLike::close);
        tensors.clear();
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
