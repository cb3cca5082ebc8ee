package dev.berth.content;

import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.commons.text.similarity.LevenshteinDistance;

/// What somebody probably meant by a name that nobody knows.
public final class Slips {

    private Slips() {}

    /// The known name that is nearest; of several the first one in the order of the alphabet.
    ///
    /// @param most how many characters may be wrong
    public static Optional<String> nearest(String name, Stream<String> known, int most) {
        var distance = new LevenshteinDistance(most);
        return known.filter(right -> distance.apply(name, right) >= 0)
                .min(Comparator.<String>comparingInt(right -> distance.apply(name, right))
                        .thenComparing(Comparator.naturalOrder()));
    }
}
