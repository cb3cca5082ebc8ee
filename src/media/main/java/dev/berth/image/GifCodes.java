package dev.berth.image;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import org.apache.commons.compress.compressors.lzw.LZWInputStream;

/// The colours' numbers that the codes of a GIF stand for: GIF89a, appendix F. Used once, by one
/// thread.
final class GifCodes extends LZWInputStream {

    private static final int MOST_BITS = 12;

    private final int width;

    /// @param codes behind a byte that says how many bits a number has
    GifCodes(byte[] codes) throws IOException {
        super(new ByteArrayInputStream(codes, 1, codes.length - 1), ByteOrder.LITTLE_ENDIAN);
        this.width = codes[0];
        if (width < 1 || width > 8) {
            throw new IOException("GIF codes of %d bits".formatted(width));
        }
        setClearCode(width + 1);
        initializeTables(MOST_BITS);
        clear();
    }

    private void clear() {
        setCodeSize(width + 1);
        // The codes to clear the table and to end come behind the numbers.
        setTableSize(getClearCode() + 2);
        resetPreviousCode();
    }

    @Override
    protected int decompressNextSymbol() throws IOException {
        Pixels.stopIfInterrupted();
        int code = readNextCode();
        if (code < 0 || code == getClearCode() + 1) {
            return -1;
        }
        if (code == getClearCode()) {
            clear();
            return 0;
        }
        if (code > getTableSize()) {
            throw new IOException("GIF code %d before %d".formatted(code, getTableSize()));
        }
        boolean isNext = code == getTableSize();
        if (isNext) {
            addRepeatOfPreviousCode();
        }
        return expandCodeToOutputStack(code, isNext);
    }

    @Override
    protected int addEntry(int previousCode, byte character) {
        int added = addEntry(previousCode, character, 1 << MOST_BITS);
        if (getTableSize() == 1 << getCodeSize() && getCodeSize() < MOST_BITS) {
            incrementCodeSize();
        }
        return added;
    }
}
