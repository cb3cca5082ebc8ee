package dev.berth.engine.torch;

import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.engine.PtNDArray;
import dev.berth.engine.KeptTensor;

/// A native tensor that a manager of the model's own frees at the latest.
final class TorchKept implements KeptTensor {

    private final NDManager manager;
    private PtNDArray array;

    TorchKept(PtNDArray array, NDManager manager) {
        this.manager = manager;
        become(array);
    }

    PtNDArray array() {
        return array;
    }

    /// Frees what it was. Both may be the same memory, which has as many users as arrays.
    void become(PtNDArray other) {
        other.attach(manager);
        if (array != null) {
            array.close();
        }
        array = other;
    }

    @Override
    public boolean isClosed() {
        return array.isReleased();
    }

    @Override
    public long bytes() {
        return isClosed() ? 0 : TensorCopy.bytes(array);
    }

    @Override
    public void close() {
        array.close();
    }
}
