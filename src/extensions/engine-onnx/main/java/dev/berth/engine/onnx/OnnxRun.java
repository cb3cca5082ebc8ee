package dev.berth.engine.onnx;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.berth.engine.EngineException;
import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.util.Map;

/// One forward of a session, which ends when its thread is interrupted: no caller waits for it
/// then, and a loop may have no end.
///
/// Java closes a channel whose thread is interrupted, on the thread that interrupts. So no other
/// thread has to look after forwards.
final class OnnxRun extends AbstractInterruptibleChannel {

    private final OrtSession.RunOptions options;

    private OnnxRun(OrtSession.RunOptions options) {
        this.options = options;
    }

    /// @param isOfCheck whether the host's memory that it took is given back at its end. Otherwise
    ///   the session keeps it for the next one
    /// @throws EngineException when the thread was interrupted
    static OrtSession.Result run(OrtSession session, Map<String, OnnxTensor> inputs, boolean isOfCheck)
            throws OrtException {
        // The options are closed last, when no other thread ends the run any more.
        try (var options = new OrtSession.RunOptions();
                var run = new OnnxRun(options)) {
            if (isOfCheck) {
                options.addRunConfigEntry("memory.enable_memory_arena_shrinkage", "cpu:0");
            }
            return run.untilInterrupted(session, inputs);
        } catch (IOException e) {
            throw new EngineException("the forward can't be ended", e);
        }
    }

    private OrtSession.Result untilInterrupted(OrtSession session, Map<String, OnnxTensor> inputs) throws OrtException {
        begin();
        try {
            return session.run(inputs, options);
        } catch (OrtException e) {
            if (isOpen()) {
                throw e;
            }
            throw new EngineException("the forward was ended, because no caller waits for it", e);
        } finally {
            leave();
        }
    }

    private void leave() {
        try {
            end(true);
        } catch (AsynchronousCloseException _) {
            // What the run has returned, or thrown, says more.
        }
    }

    @Override
    protected void implCloseChannel() throws IOException {
        try {
            options.setTerminate(true);
        } catch (OrtException e) {
            throw new IOException(e);
        }
    }
}
