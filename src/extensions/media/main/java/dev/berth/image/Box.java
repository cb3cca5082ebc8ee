package dev.berth.image;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// What a detector found in a picture: the corners of a box, in pixels, and what is in it.
public record Box(float left, float top, float right, float bottom, String label, float score) {

    /// The box of a detector that says its middle and its size.
    public static Box centred(float x, float y, float width, float height, String label, float score) {
        return new Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2, label, score);
    }

    public List<Float> corners() {
        return List.of(left, top, right, bottom);
    }

    /// Non-maximum suppression, as torchvision's `batched_nms`: leaves out each box that overlaps a
    /// likelier one of its label.
    ///
    /// @param overlap the most of the area of two boxes that both may cover, from 0 to 1
    /// @return the likeliest first; of equal scores the first is the first
    public static List<Box> suppressed(List<Box> boxes, double overlap) {
        var kept = new ArrayList<Box>();
        boxes.stream()
                .sorted(Comparator.comparingDouble(box -> -box.score))
                .filter(box -> kept.stream().noneMatch(other -> box.overlap(other) > overlap))
                .forEach(kept::add);
        return kept;
    }

    /// The part of both areas that both cover; 0 of another label.
    private float overlap(Box other) {
        float width = Math.min(right, other.right) - Math.max(left, other.left);
        float height = Math.min(bottom, other.bottom) - Math.max(top, other.top);
        if (!label.equals(other.label) || width <= 0 || height <= 0) {
            return 0;
        }
        return width * height / (area() + other.area() - width * height);
    }

    private float area() {
        return (right - left) * (bottom - top);
    }
}
