package dev.berth.engine;

import dev.berth.hooks.Tensor;
import java.util.List;

/// A model file as an engine has loaded it: what a [Graph] runs, which also says what the methods
/// do. No thread may be inside when it is closed.
public interface EngineGraph extends AutoCloseable {

    List<String> inputNames();

    List<String> outputNames();

    List<Tensor> forward(List<Tensor> inputs, List<KeptTensor> kept, int mostCores);

    KeptTensor keep(Tensor tensor);

    @Override
    void close();
}
