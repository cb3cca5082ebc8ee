package dev.berth.transform;

import dev.berth.storage.Location;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/// The output that an earlier run has made of an object, a line for each record: what is asked
/// again of it is the records that have an error. For one thread.
final class PreviousOutput implements Closeable {

    private final Optional<Location> location;
    private final InputStream in;
    private final LineReader lines;

    /// @param location nothing where all records are asked
    PreviousOutput(Optional<Location> location) {
        this.location = location;
        this.in = location.map(Location::open).orElseGet(InputStream::nullInputStream);
        this.lines = new LineReader(in, Integer.MAX_VALUE);
    }

    /// What it has for the next records; nothing where it has nothing for any.
    ///
    /// @throws TransformException where it has too few lines
    Optional<byte[]> next(int records) throws IOException {
        if (location.isEmpty()) {
            return Optional.empty();
        }
        var output = new ByteArrayOutputStream();
        for (int i = 0; i < records; i++) {
            output.writeBytes(lines.next().orElseThrow(this::differs));
        }
        return Optional.of(output.toByteArray());
    }

    /// @throws TransformException where it has more lines than there were records
    void requireEnd() throws IOException {
        if (lines.next().isPresent()) {
            throw differs();
        }
    }

    private TransformException differs() {
        return new TransformException("%s: found other records than the object has now; --overwrite makes it anew"
                .formatted(location.orElseThrow()));
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
