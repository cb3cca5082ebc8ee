package dev.berth.memory;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.SPARSE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.json.JsonText;
import dev.berth.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeapRoomTest {

    @TempDir
    private Path directory;

    /// A sparse file takes nothing of the disk.
    @Test
    void aLargerOneIsRefusedBeforeItIsRead() throws IOException {
        var file = directory.resolve("tokenizer.json");
        try (var content = FileChannel.open(file, CREATE_NEW, WRITE, SPARSE)) {
            content.write(ByteBuffer.allocate(1), 1L << 40);
        }
        assertThatThrownBy(() -> HeapRoom.read(file, 4))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(file + ": found 1048576 MB, expected at most ");
        assertThatThrownBy(() -> JsonText.read(file)).hasMessageContaining("found 1048576 MB");
        assertThatThrownBy(() -> Tokenizer.load(directory)).isInstanceOf(IOException.class);
    }
}
