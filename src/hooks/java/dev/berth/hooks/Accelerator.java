package dev.berth.hooks;

/// The device that one copy of a model runs on. A worker owns exactly one.
///
/// The NeuronCores of Inf1, Inf2 and Trn1 are numbered from 0 across those that this process may
/// use.
///
/// It may gain kinds, and a kind may gain parts. In hooks, give a `switch` a `default`, and write
/// `case Accelerator.Gpu gpu -> gpu.index()` without a record pattern.
public sealed interface Accelerator {

    /// The processor, shared by all workers.
    ///
    /// @param cores those that this process may use
    /// @param profile how many of them one prediction should use
    record Cpu(int cores, CpuProfile profile) implements Accelerator {
        @Override
        public String toString() {
            return "cpu";
        }
    }

    /// One NVIDIA GPU, numbered as CUDA does.
    record Gpu(int index) implements Accelerator {
        @Override
        public String toString() {
            return "gpu " + index;
        }
    }

    /// One NeuronCore of an AWS Inferentia chip.
    record Inf1(int core) implements Accelerator {
        @Override
        public String toString() {
            return "inf1 core " + core;
        }
    }

    /// One NeuronCore of an AWS Inferentia2 chip.
    record Inf2(int core) implements Accelerator {
        @Override
        public String toString() {
            return "inf2 core " + core;
        }
    }

    /// One NeuronCore of an AWS Trainium chip.
    record Trn1(int core) implements Accelerator {
        @Override
        public String toString() {
            return "trn1 core " + core;
        }
    }
}
