package dev.berth.memory;

/// What one request takes of the [ProcessMemory]. Whoever makes something whose size the caller chooses says first what it
/// costs, with [#charge]; the request gives it back when it ends.
///
/// The account of the request that a thread works for is [#current], so that decoders need not be handed it. On a thread
/// that works for none nothing is counted but what is [held][#hold]. Used by one thread at a time; any thread may close
/// it.
public final class RequestMemory implements AutoCloseable {

  /// What a request may have of the part for small ones.
  private static final int FEW = 256 << 10;
  /// As much as nearly every request needs, taken at once: each step takes the lock that all requests share.
  private static final int FIRST_STEP = 64 << 10;
  /// The part for large ones is taken in steps of this at least.
  private static final int STEP = 1 << 20;

  private static final ScopedValue<RequestMemory> CURRENT = ScopedValue.newInstance();

  private final ProcessMemory process;
  private final long deadlineNanos;
  private final Runnable beforeWait;
  private final MemoryShare few;
  private final MemoryShare arriving;
  private final MemoryShare made;
  /// These are the charges, and what has been taken for them.
  private long used;
  private long taken;
  private long takenOfFew;

  /// @param deadlineNanos until when it waits for memory, as the account's clock counts
  /// @param beforeWait told, by the thread that waits, that it will
  public RequestMemory(ProcessMemory process, long deadlineNanos, Runnable beforeWait) {
    this.process = process;
    this.deadlineNanos = deadlineNanos;
    this.beforeWait = beforeWait;
    this.few = process.few().share();
    this.arriving = process.arriving().share();
    this.made = process.made().share();
  }

  /// Memory that is given back before the request ends.
  public interface Held extends AutoCloseable {
    @Override
    void close();
  }

  /// Runs something that works for this request.
  public void run(Runnable work) {
    ScopedValue.where(CURRENT, this).run(work);
  }

  /// Counts what the calling thread is about to make for its request, and that lives as long as this.
  ///
  /// @throws MemoryShortException when there is no room for it
  public static void charge(long bytes) {
    if (CURRENT.isBound()) {
      CURRENT.get().add(bytes);
    }
  }

  /// Counts what the calling thread is about to make, until it is closed.
  ///
  /// @throws MemoryShortException when there is no room for it
  public static Held hold(long bytes) {
    if (CURRENT.isBound()) {
      var memory = CURRENT.get();
      memory.add(bytes);
      return () -> memory.giveBack(bytes);
    }
    var account = ProcessMemory.ofThisProcess().made();
    requireRoom(bytes, account);
    return interruptibly(() -> account.take(bytes))::close;
  }

  /// Says that the calling thread waits for something: where hooks run, another one may run in its place.
  public static void waiting() {
    if (CURRENT.isBound()) {
      CURRENT.get().beforeWait.run();
    }
  }

  /// Waits for as much as the request is likely to need, while it holds nothing that others wait for.
  ///
  /// @throws MemoryShortException when the deadline comes first
  public void expect(long bytes) {
    if (used + bytes > FEW) {
      take(Math.min(used + bytes - takenOfFew, process.made().bytes()));
    }
  }

  /// Counts as a static [#charge] does.
  public void add(long bytes) {
    if (bytes < 0 || bytes > Long.MAX_VALUE - used) {
      throw MemoryShortException.tooLarge(Long.MAX_VALUE, process.made().bytes());
    }
    long needed = used + bytes;
    if (needed > taken && !takeFew(needed)) {
      requireRoom(needed - takenOfFew, process.made());
      take(Math.min(needed - takenOfFew + Math.max(STEP, needed / 8), process.made().bytes()));
    }
    used = needed;
  }

  /// Counts a body that is being received.
  ///
  /// @param bytes of it in all, those to come included for which room is made
  /// @throws MemoryShortException when there is no room for them
  public void receive(long bytes) {
    if (!arriving.tryGrowTo(bytes)) {
      requireRoom(bytes, process.arriving());
      await(arriving, bytes);
    }
  }

  /// Gives back what is more than so many bytes of a body.
  public void keepReceived(long bytes) {
    arriving.shrinkTo(bytes);
  }

  /// Whether others wait for what [#receive] has taken.
  public boolean isReceivingWanted() {
    return process.arriving().isWanted();
  }

  /// Gives everything back. Later charges fail.
  @Override
  public void close() {
    few.close();
    arriving.close();
    made.close();
  }

  private void giveBack(long bytes) {
    used -= bytes;
    if (taken > takenOfFew && taken - used > 2 * STEP) {
      taken = takenOfFew + Math.max(0, used - takenOfFew) + STEP;
      made.shrinkTo(taken - takenOfFew);
    }
  }

  private boolean takeFew(long bytes) {
    long step = bytes <= FIRST_STEP ? FIRST_STEP : FEW;
    if (bytes > FEW || taken > takenOfFew || !few.tryGrowTo(step)) {
      return false;
    }
    takenOfFew = step;
    taken = step;
    return true;
  }

  private void take(long bytes) {
    if (!made.tryGrowTo(bytes)) {
      await(made, bytes);
    }
    taken = Math.max(taken, takenOfFew + bytes);
  }

  private void await(MemoryShare share, long bytes) {
    beforeWait.run();
    if (!interruptibly(() -> share.growTo(bytes, deadlineNanos))) {
      throw MemoryShortException.now("there is no memory for %d MB beside other requests".formatted((bytes >> 20) + 1));
    }
  }

  private static void requireRoom(long bytes, MemoryBudget budget) {
    if (bytes > budget.bytes()) {
      throw MemoryShortException.tooLarge(bytes, budget.bytes());
    }
  }

  private interface Waiting<T> {
    T call() throws InterruptedException;
  }

  private static <T> T interruptibly(Waiting<T> waiting) {
    try {
      return waiting.call();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw MemoryShortException.now("the wait for memory was interrupted");
    }
  }
}
