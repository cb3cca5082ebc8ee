package dev.berth.image;

import dev.berth.memory.RequestMemory;
import java.util.Arrays;
import java.util.List;

/// Many pictures on one: rows of eight, in their order. A picture that is larger than a cell is
/// made smaller.
public final class ContactSheet {

    private static final int COLUMNS = 8;
    private static final int LARGEST_CELL = 128;
    private static final int GAP = 4;
    private static final byte WHITE = (byte) 255;
    private static final int CHANNELS = 3;

    private ContactSheet() {}

    /// A picture as it will be on a sheet, so that the large one need not be kept.
    public static Image thumbnail(Image picture) {
        int longer = Math.max(picture.width(), picture.height());
        return longer <= LARGEST_CELL
                ? picture
                : picture.resize(shrunk(picture.width(), longer), shrunk(picture.height(), longer));
    }

    /// The sheet.
    ///
    /// @param pictures at least one
    public static Image of(List<Image> pictures) {
        var cells = pictures.stream().map(ContactSheet::thumbnail).toList();
        int side = cells.stream()
                .mapToInt(cell -> Math.max(cell.width(), cell.height()))
                .max()
                .orElseThrow();
        int columns = Math.min(COLUMNS, cells.size());
        int rows = (cells.size() + COLUMNS - 1) / COLUMNS;
        int width = GAP + columns * (side + GAP);
        int height = GAP + rows * (side + GAP);
        RequestMemory.charge((long) CHANNELS * width * height);
        var pixels = new byte[CHANNELS * width * height];
        Arrays.fill(pixels, WHITE);
        for (int i = 0; i < cells.size(); i++) {
            var cell = cells.get(i);
            int left = GAP + i % COLUMNS * (side + GAP) + (side - cell.width()) / 2;
            int top = GAP + i / COLUMNS * (side + GAP) + (side - cell.height()) / 2;
            int bytes = CHANNELS * cell.width();
            for (int y = 0; y < cell.height(); y++) {
                System.arraycopy(cell.pixels(), y * bytes, pixels, CHANNELS * ((top + y) * width + left), bytes);
            }
        }
        return new Image(width, height, pixels);
    }

    private static int shrunk(int length, int longer) {
        return Math.max(1, Math.round((float) length * LARGEST_CELL / longer));
    }
}
