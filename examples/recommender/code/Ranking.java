import java.util.Arrays;

/// The best of many items, without an object for each of them.
///
/// A score and a row are put into one `long`, whose order is theirs: a larger score is larger, and
/// so is a smaller row of the same score. The best so far form a heap, the least of them at its
/// root. Used by one thread.
final class Ranking {

    private final long[] heap;

    /// @param size how many to keep, at least 1
    Ranking(int size) {
        heap = new long[size];
        Arrays.fill(heap, Long.MIN_VALUE);
    }

    void add(int row, float score) {
        long item = ((long) ordered(Float.floatToIntBits(score)) << Integer.SIZE) | (~row & 0xffff_ffffL);
        if (item > heap[0]) {
            replaceLeast(item);
        }
    }

    /// The items that were kept, the best first. The ranking ends with it.
    long[] best() {
        Arrays.sort(heap);
        for (int i = 0, j = heap.length - 1; i < j; i++, j--) {
            long least = heap[i];
            heap[i] = heap[j];
            heap[j] = least;
        }
        return heap;
    }

    static int row(long item) {
        return ~(int) item;
    }

    static float score(long item) {
        return Float.intBitsToFloat(ordered((int) (item >> Integer.SIZE)));
    }

    private void replaceLeast(long item) {
        int place = 0;
        for (int child = 1; child < heap.length; child = 2 * place + 1) {
            if (child + 1 < heap.length && heap[child + 1] < heap[child]) {
                child++;
            }
            if (item <= heap[child]) {
                break;
            }
            heap[place] = heap[child];
            place = child;
        }
        heap[place] = item;
    }

    /// The bits of a float, so that their order as an int is that of the floats; twice gives the bits
    /// back. Those of a negative number grow with its distance from zero and must be turned round.
    private static int ordered(int bits) {
        return bits ^ ((bits >> 31) & Integer.MAX_VALUE);
    }
}
