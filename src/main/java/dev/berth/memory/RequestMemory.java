package dev.berth.memory;

/// What one request takes of the [ProcessMemory]. Whoever makes something whose size the caller
/// chooses says first what it costs, with [#charge]; the request gives it back when it ends.
///
/// The account of the request that a thread works for is a [ScopedValue], so that decoders need not
/// be handed it. On a thread that works for none nothing is counted but what is [held][#hold]. Used
/// by one thread at a time; any thread may close it.
public final class RequestMemory implements AutoCloseable {

  /// What a request may have of the part for small ones.
  private static final int FEW = 256 << 10;

  /// As much as most requests need, taken at once: each step takes the lock that all requests
  /// share.
  private static final int STEP = 64 << 10;

  private static final ScopedValue<RequestMemory> CURRENT = ScopedValue.newInstance();

  private final ProcessMemory process;
  private final long deadlineNanos;
  private final Runnable beforeWait;
  private final MemoryShare few;
  private final MemoryShare arriving;
  private final MemoryShare medium;
  private final MemoryShare large;

  /// What has been counted, and what has been taken for it: of the first part, and of one of the
  /// two others.
  private long used;

  private long takenOfFew;
  private long takenOfMore;
  private boolean ofLarge;

  /// @param deadlineNanos until when it waits for memory, as the account's clock counts
  /// @param beforeWait told, by the thread that waits, that it will
  public RequestMemory(ProcessMemory process, long deadlineNanos, Runnable beforeWait) {
    this.process = process;
    this.deadlineNanos = deadlineNanos;
    this.beforeWait = beforeWait;
    this.few = process.few().share();
    this.arriving = process.arriving().share();
    this.medium = process.medium().share();
    this.large = process.large().share();
  }

  /// Counts what it takes as that of a model, too. Before it takes anything.
  public void countFor(ModelMemory model) {
    few.countFor(model.few);
    medium.countFor(model.medium);
    large.countFor(model.large);
    arriving.countFor(model.arriving);
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

  /// Counts what the calling thread is about to make for its request, and that lives as long as
  /// this.
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
    var account = ProcessMemory.ofThisProcess().large();
    requireRoom(bytes, account);
    return interruptibly(() -> account.take(bytes))::close;
  }

  /// Says that the calling thread waits for something: where hooks run, another one may run in its
  /// place.
  public static void waiting() {
    if (CURRENT.isBound()) {
      CURRENT.get().beforeWait.run();
    }
  }

  /// Waits for as much as the request is likely to need, while it holds nothing that others wait
  /// for.
  ///
  /// @throws MemoryShortException when the deadline comes first
  public void expect(long bytes) {
    long likely = used + bytes;
    if (likely > FEW) {
      takeMore(Math.min(likely - takenOfFew, process.large().bytes()));
    }
  }

  /// Counts as a static [#charge] does.
  public void add(long bytes) {
    if (bytes < 0 || bytes > Long.MAX_VALUE - used) {
      throw MemoryShortException.tooLarge(process.large().bytes());
    }
    long needed = used + bytes;
    if (needed > takenOfFew + takenOfMore && !takeFew(needed)) {
      long more = needed - takenOfFew;
      requireRoom(more, process.large());
      takeMore(Math.min(more + more / 8, process.large().bytes()));
    }
    used = needed;
  }

  /// Counts as [#add] does, for a thread that must not wait.
  ///
  /// @throws MemoryShortException when there is no room for it now
  public void addAtOnce(long bytes) {
    long needed = used + bytes;
    if (needed > takenOfFew + takenOfMore && !takeFew(needed)) {
      long more = needed - takenOfFew;
      requireRoom(more, process.large());
      long wanted = Math.min(more + more / 8, process.large().bytes());
      boolean medium = !ofLarge && wanted <= process.mostOfMedium();
      if (!(medium ? this.medium : large).tryGrowTo(wanted)) {
        throw MemoryShortException.beside(more);
      }
      ofLarge |= !medium;
      takenOfMore = wanted;
    }
    used = needed;
  }

  /// Counts a body that is being received.
  ///
  /// @param bytes of it in all, those to come included for which room is made
  /// @throws MemoryShortException when there is no room for them
  public void receive(long bytes) {
    requireRoom(bytes, process.arriving());
    await(arriving, bytes);
  }

  /// Whether it needs more than its first part, or its body does.
  public boolean isLarge() {
    return takenOfMore > 0 || arriving.holds();
  }

  /// Gives back what is more than so many bytes of a body.
  public void keepReceived(long bytes) {
    arriving.shrinkTo(bytes);
  }

  /// Whether others wait for what [#receive] has taken.
  public boolean isReceivingWanted() {
    return arriving.holds() && process.arriving().isWanted();
  }

  /// Gives everything back. Later charges fail.
  @Override
  public void close() {
    few.close();
    medium.close();
    large.close();
    arriving.close();
  }

  private void giveBack(long bytes) {
    used -= bytes;
    long unused = takenOfFew + takenOfMore - used;
    if (ofLarge && unused > bytes / 2) {
      takenOfMore = Math.max(0, takenOfMore - unused);
      large.shrinkTo(takenOfMore);
    }
  }

  private boolean takeFew(long needed) {
    long whole = Math.ceilDiv(needed, STEP) * STEP;
    if (needed > FEW || takenOfMore > 0 || !few.tryGrowTo(whole)) {
      return false;
    }
    takenOfFew = whole;
    return true;
  }

  /// Takes of the part for medium requests, or of the one for large ones from now on.
  private void takeMore(long bytes) {
    if (!ofLarge && bytes <= process.mostOfMedium()) {
      await(medium, bytes);
    } else if (ofLarge || takenOfMore == 0) {
      await(large, bytes);
      ofLarge = true;
    } else if (large.tryGrowTo(bytes)) {
      ofLarge = true;
      medium.shrinkTo(0);
    } else {
      // Others like it would soon hold all that medium ones may have, while they wait.
      throw MemoryShortException.beside(bytes);
    }
    takenOfMore = bytes;
  }

  private void await(MemoryShare share, long bytes) {
    if (share.tryGrowTo(bytes)) {
      return;
    }
    beforeWait.run();
    if (!interruptibly(() -> share.growTo(bytes, deadlineNanos))) {
      throw MemoryShortException.beside(bytes);
    }
  }

  private static void requireRoom(long bytes, MemoryBudget budget) {
    if (bytes > budget.bytes()) {
      throw MemoryShortException.tooLarge(budget.bytes());
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
