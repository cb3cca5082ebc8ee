package dev.berth.memory;

/// What loading something takes of a memory, in bytes.
///
/// @param kept what it takes as long as it is loaded
/// @param whileLoading what it takes besides until it is loaded
public record Footprint(long kept, long whileLoading) {

    public static final Footprint NONE = new Footprint(0, 0);

    public Footprint plus(Footprint other) {
        return new Footprint(kept + other.kept, whileLoading + other.whileLoading);
    }

    public long most() {
        return kept + whileLoading;
    }
}
