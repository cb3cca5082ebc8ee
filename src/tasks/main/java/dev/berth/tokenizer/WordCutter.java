package dev.berth.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// Cuts texts into words before the tokenizer sees them, for models that were trained so.
/// `tokenizer.json` has it as `words`, before all else, and the rest is the cutter's own:
///
/// ```json
/// {"words": {"cutter": "mecab", …}, …}
/// ```
///
/// Hugging Face's tokenizers do not know `words` and refuse the file, so that none cuts the words
/// in another way. `META-INF/services` lists the cutters. Safe for use by many threads.
public interface WordCutter {

    /// The name in tokenizer.json.
    String NAME = "words";

    /// A word, and where the original of each of its characters stands in the text, in code points.
    ///
    /// @param starts where each begins
    /// @param ends where each ends, exclusive
    record Word(String text, int[] starts, int[] ends) {

        int start(int character) {
            return starts[Math.min(character, starts.length - 1)];
        }

        /// Lower case makes two characters of `İ`, and of no other: what follows in its word is then
        /// one place off.
        int end(int character) {
            return ends[Math.min(character, ends.length - 1)];
        }
    }

    interface Opened extends AutoCloseable {

        /// The words of a text, in its order.
        ///
        /// @throws dev.berth.error.ServingException when there is no memory for them
        List<Word> cut(String text);

        @Override
        void close();
    }

    /// What `cutter` is called.
    String name();

    /// Opens it for a tokenizer, which closes it.
    ///
    /// @param tokenizer the whole of tokenizer.json
    /// @param directory where that stands
    /// @throws IOException when `words` is not as it must be, or a file can't be read
    Opened open(JsonNode tokenizer, Path directory) throws IOException;
}
