package dev.berth.image;

import java.util.Arrays;

/// Pillow's filters, number for number: each side by itself, weights in fixed-point numbers, and
/// whole values from 0 to 255 in between. Where a picture shrinks, the filter is as wide as the
/// pixels that become one.
///
/// After `Resample.c` and `Geometry.c` of Pillow 13, which is where the formulas and the rounding
/// come from.
final class Resampling {

    /// Of a weight; a value of 8 bits and a sign fit beside them.
    private static final int FRACTION_BITS = 22;

    private static final int HALF = 1 << (FRACTION_BITS - 1);

    /// Of the picture in between, however small the others are.
    private static final long FEW_PIXELS = 4_000_000;

    private Resampling() {}

    /// What a resized pixel is made of: neighbours from `first`, one for each weight.
    private record Window(int first, int[] weights) {}

    static Pixels resize(Pixels image, int width, int height, Filter filter) {
        if (filter == Filter.NEAREST) {
            return nearest(image, width, height);
        }
        // Across first as Pillow does would make a thin picture huge, which no photograph is.
        long larger = Math.max((long) image.width() * image.height(), (long) width * height);
        boolean isHuge = (long) width * image.height() > Math.min(Math.max(FEW_PIXELS, 4 * larger), Pixels.MOST);
        // Down first where the height shrinks by more than twice what the width does.
        int shrunk = image.height() - height;
        return isHuge || shrunk > Math.max(0, 2 * ((long) image.width() - width))
                ? across(down(image, height, filter), width, filter)
                : down(across(image, width, filter), height, filter);
    }

    private static Pixels nearest(Pixels image, int width, int height) {
        var pixels = image.rgb();
        var resized = new byte[Math.multiplyExact(Math.multiplyExact(width, height), 3)];
        var columns = places(image.width(), width);
        var rows = places(image.height(), height);
        int to = 0;
        for (int row : rows) {
            Pixels.stopIfInterrupted();
            for (int column : columns) {
                System.arraycopy(pixels, (row * image.width() + column) * 3, resized, to, 3);
                to += 3;
            }
        }
        return new Pixels(width, height, resized);
    }

    /// Which pixel each one is, of a side of `length` pixels. Added up as in Pillow, so that it is
    /// rounded as there.
    private static int[] places(int length, int resized) {
        double scale = (double) length / resized;
        double at = scale / 2;
        var places = new int[resized];
        for (int i = 0; i < resized; i++, at += scale) {
            places[i] = Math.min((int) at, length - 1);
        }
        return places;
    }

    private static Pixels across(Pixels image, int width, Filter filter) {
        if (width == image.width()) {
            return image;
        }
        var pixels = image.rgb();
        var resized = new byte[Math.multiplyExact(Math.multiplyExact(width, image.height()), 3)];
        var windows = new Window[width];
        Arrays.setAll(windows, x -> window(x, image.width(), width, filter));
        for (int y = 0, to = 0; y < image.height(); y++) {
            Pixels.stopIfInterrupted();
            int row = y * image.width();
            for (var window : windows) {
                int red = HALF;
                int green = HALF;
                int blue = HALF;
                int from = (row + window.first) * 3;
                for (int weight : window.weights) {
                    red += (pixels[from] & 0xff) * weight;
                    green += (pixels[from + 1] & 0xff) * weight;
                    blue += (pixels[from + 2] & 0xff) * weight;
                    from += 3;
                }
                resized[to] = value(red);
                resized[to + 1] = value(green);
                resized[to + 2] = value(blue);
                to += 3;
            }
        }
        return new Pixels(width, image.height(), resized);
    }

    private static Pixels down(Pixels image, int height, Filter filter) {
        if (height == image.height()) {
            return image;
        }
        var pixels = image.rgb();
        int rowBytes = image.width() * 3;
        var resized = new byte[Math.multiplyExact(rowBytes, height)];
        var sums = new int[rowBytes];
        int to = 0;
        for (int y = 0; y < height; y++) {
            Pixels.stopIfInterrupted();
            var window = window(y, image.height(), height, filter);
            Arrays.fill(sums, HALF);
            int from = window.first * rowBytes;
            for (int weight : window.weights) {
                for (int i = 0; i < rowBytes; i++) {
                    sums[i] += (pixels[from + i] & 0xff) * weight;
                }
                from += rowBytes;
            }
            for (int i = 0; i < rowBytes; i++) {
                resized[to + i] = value(sums[i]);
            }
            to += rowBytes;
        }
        return new Pixels(image.width(), height, resized);
    }

    /// What becomes the pixel at `index`, where a side of `length` pixels is resized.
    private static Window window(int index, int length, int resized, Filter filter) {
        double scale = (double) length / resized;
        double wider = Math.max(scale, 1);
        double reach = filter.reach * wider;
        double center = (index + 0.5) * scale;
        int first = Math.max((int) (center - reach + 0.5), 0);
        int end = Math.min((int) (center + reach + 0.5), length);
        var exact = new double[end - first];
        double sum = 0;
        for (int i = 0; i < exact.length; i++) {
            exact[i] = filter.weight((first + i - center + 0.5) * (1 / wider));
            sum += exact[i];
        }
        var weights = new int[exact.length];
        for (int i = 0; i < weights.length; i++) {
            double weight = exact[i] / sum;
            weights[i] = (int) (weight * (1 << FRACTION_BITS) + (weight < 0 ? -0.5 : 0.5));
        }
        return new Window(first, weights);
    }

    /// Rounded weights may come to a little more than 1, and some filters have weights below 0.
    private static byte value(int sum) {
        return (byte) Math.clamp(sum >> FRACTION_BITS, 0, 255);
    }
}
