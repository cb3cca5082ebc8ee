import dev.berth.engine.Graph;
import dev.berth.hooks.Tensor;
import java.util.List;
import java.util.Random;

/// Goes from noise to a scene in steps. In each the model says which scene it sees behind the
/// noise, and the numbers are moved some of the way there (Euler's method on the way that flow
/// matching has taught). The last guess is drawn.
///
/// The same seed gives the same picture. `Random` is specified to the bit, and a forward has one
/// core and one picture, so neither company nor the number of threads changes the order of
/// additions. Another kind of processor may.
final class Painter {

    /// Of a scene. Behind them the model answers with the picture of its guess.
    private static final int NUMBERS = 24;

    private static final int SIDE = 64;

    private Painter() {}

    /// @return float32 `[3, 64, 64]`, from 0 to 1
    static Tensor paint(long[] tokens, long seed, int steps, Graph model) throws InterruptedException {
        var words = Tensor.of(tokens, 1, tokens.length);
        var scene = noise(seed);
        float[] answer = {};
        for (int step = 0; step < steps; step++) {
            // Nobody waits for it any more.
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            var at = Tensor.of(new float[] {(float) step / steps}, 1);
            answer = model.forward(List.of(words, Tensor.of(scene, 1, NUMBERS), at), 1)
                    .getFirst()
                    .floats();
            for (int i = 0; i < NUMBERS; i++) {
                scene[i] += (answer[i] - scene[i]) / (steps - step);
            }
        }
        var picture = new float[3 * SIDE * SIDE];
        for (int i = 0; i < picture.length; i++) {
            picture[i] = (answer[NUMBERS + i] + 1) / 2;
        }
        return Tensor.of(picture, 3, SIDE, SIDE);
    }

    private static float[] noise(long seed) {
        var random = new Random(seed);
        var noise = new float[NUMBERS];
        for (int i = 0; i < noise.length; i++) {
            noise[i] = (float) random.nextGaussian();
        }
        return noise;
    }
}
