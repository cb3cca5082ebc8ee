package dev.berth.image;

/// A picture in the middle of a larger one, as detectors take it, and the way back.
///
/// @param image the larger one, black around the picture
/// @param scale what the sides of the picture were multiplied by
/// @param left where the picture begins
/// @param top where the picture begins
public record Letterbox(Image image, double scale, int left, int top) {

    /// A box of the larger picture in the pixels of the picture itself.
    public Box original(Box box) {
        return new Box(
                (float) ((box.left() - left) / scale),
                (float) ((box.top() - top) / scale),
                (float) ((box.right() - left) / scale),
                (float) ((box.bottom() - top) / scale),
                box.label(),
                box.score());
    }
}
