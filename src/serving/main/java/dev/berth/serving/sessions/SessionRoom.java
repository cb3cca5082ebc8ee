package dev.berth.serving.sessions;

/// How many sessions there may be, and how much they may take, of all models together. May be used
/// by any thread.
public final class SessionRoom {

    private final int most;
    private final long mostBytes;
    private int sessions;
    private long bytes;

    /// @param mostBytes of all sessions, as the hooks estimate them
    public SessionRoom(int most, long mostBytes) {
        this.most = most;
        this.mostBytes = mostBytes;
    }

    /// Takes a place for one more.
    ///
    /// @return false where there is none, or the others take all the memory
    synchronized boolean tryEnter() {
        if (sessions >= most || bytes >= mostBytes) {
            return false;
        }
        sessions++;
        return true;
    }

    /// A session takes so much more, or less.
    ///
    /// @return whether all together take no more than they may
    synchronized boolean grow(long more) {
        bytes += more;
        return bytes <= mostBytes;
    }

    /// @param held what the session took
    synchronized void leave(long held) {
        sessions--;
        bytes -= held;
    }

    synchronized String full() {
        return sessions >= most
                ? "%d sessions are open, and max-sessions allows no more; close one or try again later"
                        .formatted(sessions)
                : "%d sessions take %d MiB, and session-memory-mb allows no more; close one or try again later"
                        .formatted(sessions, bytes >> 20);
    }
}
