package dev.berth.handler.text;

/// Arithmetic of vectors.
public final class Vectors {

    private Vectors() {}

    /// Scales a vector to length 1, in its place.
    public static float[] normalised(float[] vector) {
        double squares = 0;
        for (float value : vector) {
            squares += (double) value * value;
        }
        double length = Math.max(Math.sqrt(squares), 1e-12);
        for (int i = 0; i < vector.length; i++) {
            vector[i] = (float) (vector[i] / length);
        }
        return vector;
    }
}
