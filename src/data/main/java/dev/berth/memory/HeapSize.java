package dev.berth.memory;

/// What things take of the heap, in bytes: to be [charged][RequestMemory#charge] before they are
/// made.
///
/// `bench/java/HeapSizes.java` measures them, on Temurin 25.0.3 with compressed references. The
/// figures here are rounded up and have 10 bytes for a place in a list while it is copied to a
/// larger one. What is counted is the body, the values that are made of it, and the tensors that
/// are made of those.
public final class HeapSize {

    /// A number, as a node of JSON or boxed. Measured: 29.
    public static final long VALUE = 40;

    /// A text without its characters, as a node of JSON or the cell of a row. Measured: 63.
    public static final long TEXT = 72;

    /// A character of a text. Most texts have one byte for each.
    public static final long CHARACTER = 2;

    /// A list of values. Measured: 53 when it is empty, 104 with room for its first ten.
    public static final long LIST = 120;

    /// An object. Measured: 93 without members, 173 with room for its first twelve.
    public static final long OBJECT = 192;

    /// A member of an object, with a name of its own. Measured: 98, while half of the room is free.
    public static final long FIELD = 128;

    /// A tensor without its elements. Measured: 137, its shape and buffer included.
    public static final long TENSOR = 160;

    /// A record or its prediction, from the decoder through the queue: its name, a list of its parts,
    /// and what waits for it.
    public static final long RECORD = 240;

    private HeapSize() {}
}
