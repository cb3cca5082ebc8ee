import java.util.Arrays;

/// Chooses tokens. The same seed gives the same tokens everywhere: `loop.py` has the same few
/// lines.
///
/// The tokens are sorted by their logits, then by their ids. `top_k` and `top_p` keep the first of
/// them. A random number between 0 and 1 falls on one of the rest, each as wide as its probability
/// (inverse transform sampling). The numbers are those of SplitMix64 (Steele, Lea, Flood: Fast
/// Splittable Pseudorandom Number Generators, OOPSLA 2014).
final class Sampler {

    /// @param temperature 0: always the likeliest token
    /// @param topK the most tokens to choose from; 0: all
    /// @param topP how much of the probability the tokens to choose from have at least
    record Settings(double temperature, int topK, double topP, long seed) {
        Settings withSeed(long other) {
            return new Settings(temperature, topK, topP, other);
        }
    }

    private final Settings settings;
    private long state;

    Sampler(Settings settings) {
        this.settings = settings;
        this.state = settings.seed();
    }

    /// @return the id of the token, its place in `logits`
    int choose(float[] logits) {
        return settings.temperature() == 0 ? likeliest(logits) : sample(logits);
    }

    private static int likeliest(float[] logits) {
        int best = 0;
        for (int id = 1; id < logits.length; id++) {
            best = logits[id] > logits[best] ? id : best;
        }
        return best;
    }

    private int sample(float[] logits) {
        // The logit's order in the upper half, descending, and the id in the lower one: sorted as plain
        // numbers.
        var keys = new long[logits.length];
        for (int id = 0; id < keys.length; id++) {
            int bits = Float.floatToIntBits(logits[id]);
            keys[id] = (long) ~(bits ^ bits >> 31 & Integer.MAX_VALUE) << 32 | id;
        }
        Arrays.sort(keys);
        int kept = settings.topK() == 0 ? keys.length : Math.min(settings.topK(), keys.length);
        var sums = new double[kept];
        double sum = 0;
        for (int i = 0; i < kept; i++) {
            sum += Math.exp((logits[(int) keys[i]] - logits[(int) keys[0]]) / settings.temperature());
            sums[i] = sum;
        }
        int last = firstAtLeast(sums, settings.topP() * sum);
        return (int) keys[Math.min(last, firstAtLeast(sums, next() * sums[last]))];
    }

    private static int firstAtLeast(double[] sums, double value) {
        int place = Arrays.binarySearch(sums, value);
        return Math.min(place < 0 ? -place - 1 : place, sums.length - 1);
    }

    private double next() {
        state += 0x9E3779B97F4A7C15L;
        long mixed = (state ^ state >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return ((mixed ^ mixed >>> 31) >>> 11) * 0x1p-53;
    }
}
