package dev.berth.engine.onnx;

import ai.onnxruntime.OnnxTensor;
import dev.berth.engine.KeptTensor;
import java.util.Set;

/// A tensor of ONNX Runtime that the graph which made it frees at the latest.
final class OnnxKept implements KeptTensor {

    private final Set<OnnxKept> open;
    private OnnxTensor tensor;

    /// @param open those of the graph that are not closed
    OnnxKept(OnnxTensor tensor, Set<OnnxKept> open) {
        this.tensor = tensor;
        this.open = open;
        open.add(this);
    }

    OnnxTensor tensor() {
        return tensor;
    }

    /// Frees what it was.
    void become(OnnxTensor other) {
        tensor.close();
        tensor = other;
    }

    @Override
    public boolean isClosed() {
        return tensor.isClosed();
    }

    @Override
    public long bytes() {
        return isClosed() ? 0 : OnnxValues.bytes(tensor);
    }

    @Override
    public void close() {
        open.remove(this);
        if (!isClosed()) {
            tensor.close();
        }
    }
}
