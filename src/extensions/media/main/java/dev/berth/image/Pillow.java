package dev.berth.image;

/// Versions of Pillow that resize a picture to other numbers.
public enum Pillow {
    /// Before 13: across first.
    OLD,
    /// From 13 on: down first where the height shrinks by more than twice what the width does.
    NEWEST;

    boolean isDownFirst(Pixels image, int width, int height) {
        int shrunk = image.height() - height;
        return this == NEWEST && shrunk > Math.max(0, 2 * ((long) image.width() - width));
    }
}
