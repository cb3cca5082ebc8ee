package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntFunction;

/// What is wrong with the records of a request that fail alone, by their places. `inputFn` leaves it
/// with the request for `outputFn`, so that a model gets good records only.
public final class BadRecords {

    private static final String NAME = BadRecords.class.getName();
    private static final String SEEN = NAME + ".seen";

    private BadRecords() {}

    /// Reads records, and gives the good ones.
    ///
    /// @param read reads the record of a place
    /// @throws BadInputException for the first bad one, where the request does not keep those
    public static <T> List<T> apart(InvocationRequest request, int count, IntFunction<T> read) {
        boolean keep = ContentTypes.keepsBadRecords(request);
        var good = new ArrayList<T>(count);
        var bad = new TreeMap<Integer, String>();
        for (int i = 0; i < count; i++) {
            try {
                good.add(read.apply(i));
            } catch (BadInputException e) {
                if (!keep) {
                    throw e;
                }
                bad.put(i, e.getMessage());
            }
        }
        request.attributes().put(NAME, bad);
        return good;
    }

    /// What is wrong with each bad record, by its place among all.
    @SuppressWarnings("unchecked")
    public static SortedMap<Integer, String> of(InvocationRequest request) {
        request.attributes().put(SEEN, true);
        return (SortedMap<Integer, String>) request.attributes().getOrDefault(NAME, Collections.emptySortedMap());
    }

    /// @throws BadInputException with what is wrong with the first bad record, if there is one
    public static void requireNone(InvocationRequest request) {
        of(request).values().stream().findFirst().ifPresent(message -> {
            throw new BadInputException(message);
        });
    }

    /// Refuses a request whose `outputFn` has passed its bad records over: other answers would stand in
    /// their places.
    ///
    /// @throws BadInputException with what is wrong with the first bad record, if there is one
    public static void requireSeen(InvocationRequest request) {
        if (!request.attributes().containsKey(SEEN)) {
            requireNone(request);
        }
    }

    /// The answers to the good records of a request, and a [RecordError] in the place of each bad one.
    public static List<Object> inPlaces(List<?> answers, InvocationRequest request) {
        var all = new ArrayList<Object>(answers);
        of(request).forEach((place, message) -> all.add(place, new RecordError(message)));
        return all;
    }
}
