package dev.berth.reliability;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.FutureTask;

/// The servers of a campaign. Each case has one of its own, unless they are shared: then those
/// cases that any server does for, and that want the same model and settings, have one, as long as
/// it holds.
final class Servers implements AutoCloseable {

    private final Target.Place place;
    private final boolean areShared;
    private final Map<Object, FutureTask<Target>> starts = new HashMap<>();

    Servers(Target.Place place, boolean areShared) {
        this.place = place;
        this.areShared = areShared;
    }

    /// The start of a case's server: run here, on a thread of its own before its turn, or not at all.
    FutureTask<Target> start(Attacks.Case one) {
        return starts.computeIfAbsent(
                key(one),
                _ -> new FutureTask<>(() ->
                        one.isWatched() ? Target.start(place, one.launch()) : Target.launched(place, one.launch())));
    }

    /// Ends a case's server, unless it is shared and holds.
    void release(Attacks.Case one, boolean holds) {
        if (!isShared(one) || !holds) {
            end(starts.remove(key(one)));
        }
    }

    @Override
    public void close() {
        starts.values().forEach(Servers::end);
    }

    private static void end(FutureTask<Target> start) {
        if (start.state() == FutureTask.State.SUCCESS) {
            start.resultNow().close();
        }
    }

    private boolean isShared(Attacks.Case one) {
        return areShared && one.needs() == Attacks.Needs.ANY_SERVER;
    }

    private Object key(Attacks.Case one) {
        return !isShared(one)
                ? one
                : place.image() == null ? one.launch() : one.launch().heap("");
    }
}
