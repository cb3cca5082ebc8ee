package dev.berth.image;

/// How a picture is made of another size: Pillow's filters, by its names.
///
/// All but [#NEAREST] weigh neighbours. Where a picture shrinks they reach over all pixels that
/// become one.
public enum Filter {
    /// The one pixel in its place.
    NEAREST(0),
    BOX(0.5),
    BILINEAR(1),
    HAMMING(1),
    BICUBIC(2),
    LANCZOS(3);

    /// How far it reaches where a picture does not shrink, in pixels.
    final double reach;

    Filter(double reach) {
        this.reach = reach;
    }

    /// The weight of a pixel at this distance. The formulas are those of Pillow's `Resample.c`, which
    /// has the two numbers of its Hamming filter as floats.
    double weight(double distance) {
        double x = Math.abs(distance);
        return switch (this) {
            // It looks at no neighbours.
            case NEAREST -> 1;
            case BOX -> distance > -0.5 && distance <= 0.5 ? 1 : 0;
            case BILINEAR -> Math.max(1 - x, 0);
            case HAMMING -> x == 0 ? 1 : x >= 1 ? 0 : sinc(x) * (0.54f + 0.46f * Math.cos(x * Math.PI));
            case BICUBIC -> x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
            case LANCZOS -> x < 3 ? sinc(x) * sinc(x / 3) : 0;
        };
    }

    private static double sinc(double x) {
        return x == 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
    }
}
