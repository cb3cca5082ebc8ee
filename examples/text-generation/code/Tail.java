import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Makes text of the bytes of tokens. It holds back what can't be shown yet: a part of a character,
/// and what may still become a stop word.
final class Tail {

    private final List<String> stops;
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);
    private byte[] bytes = {};
    private String held = "";
    private boolean stopped;

    Tail(List<String> stops) {
        this.stops = stops;
    }

    /// @return what may be shown now
    String add(byte[] more) {
        return show(decode(more, false), false);
    }

    /// @return the rest, when no more comes
    String end() {
        return show(decode(new byte[0], true), true);
    }

    /// Whether a stop word has come. It is not shown, and nothing after it.
    boolean stopped() {
        return stopped;
    }

    private String show(String more, boolean last) {
        if (stopped) {
            return "";
        }
        var text = held + more;
        int stop = stops.stream()
                .mapToInt(text::indexOf)
                .filter(place -> place >= 0)
                .min()
                .orElse(-1);
        stopped = stop >= 0;
        int end = stopped ? stop : last ? text.length() : text.length() - mayBecomeStop(text);
        held = text.substring(end);
        return text.substring(0, end);
    }

    /// How many of the last characters are the beginning of a stop word.
    private int mayBecomeStop(String text) {
        int longest = 0;
        for (var stop : stops) {
            for (int length = Math.min(stop.length() - 1, text.length()); length > longest; length--) {
                if (stop.startsWith(text.substring(text.length() - length))) {
                    longest = length;
                }
            }
        }
        return longest;
    }

    private String decode(byte[] more, boolean last) {
        var input = ByteBuffer.allocate(bytes.length + more.length)
                .put(bytes)
                .put(more)
                .flip();
        var output = CharBuffer.allocate(input.remaining());
        decoder.reset().decode(input, output, last);
        bytes = new byte[input.remaining()];
        input.get(bytes);
        return output.flip().toString();
    }
}
