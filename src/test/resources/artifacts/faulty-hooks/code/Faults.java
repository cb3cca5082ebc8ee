import dev.berth.hooks.BadInputException;
import dev.berth.testing.HookProbe;
import java.io.IOException;
import java.util.List;

/// What a record asks for: `predictFn throw` lets predictFn throw.
final class Faults {

    private static final class OwnError extends Error {}

    private static final class SilentException extends RuntimeException {
        @Override
        public String getMessage() {
            throw new IllegalStateException("no message");
        }
    }

    /// Whoever asks it for its message does not come back.
    private static final class MuteException extends RuntimeException {
        @Override
        public String getMessage() {
            HookProbe.spin();
            return "at last";
        }
    }

    private static final class EndlessException extends RuntimeException {
        @Override
        public synchronized Throwable getCause() {
            return new EndlessException();
        }
    }

    private static final class Broken {
        static final int SIZE = Integer.parseInt("none");
    }

    private Faults() {}

    /// Does what the first record asks of a hook. What is left to the hook is returned.
    static String in(String hook, List<String> records) {
        var record = records.isEmpty() ? "" : records.getFirst();
        if (!record.startsWith(hook + " ")) {
            return "none";
        }
        try {
            return run(hook, record.substring(hook.length() + 1));
        } catch (Exception e) {
            throw Faults.<RuntimeException>unchecked(e);
        }
    }

    private static String run(String hook, String fault) throws Exception {
        switch (fault) {
            case "throw" -> throw new IllegalStateException("boom");
            case "checked" -> throw new IOException("disk");
            case "cause" -> throw new IllegalStateException(new IOException("disk"));
            case "argument" -> throw new IllegalArgumentException("odd");
            case "nothing" -> throw new IllegalStateException();
            case "long" -> throw new IllegalStateException("ä\n\"".repeat(1000));
            case "bad input" -> throw new BadInputException("line 1: found 悪, expected 良");
            case "huge" -> throw new IllegalStateException("x".repeat(30_000_000));
            case "huge bad input" -> throw new BadInputException("x".repeat(30_000_000));
            case "endless" -> throw new EndlessException();
            case "mute" -> throw new MuteException();
            case "memory" -> throw new OutOfMemoryError("heap");
            case "error" -> throw new OwnError();
            case "overflow" -> run(hook, fault);
            case "gone" -> throw new NoClassDefFoundError("com/acme/Gone");
            case "not found" -> Class.forName("com.acme.Gone");
            case "broken" -> HookProbe.note("" + Broken.SIZE);
            case "silent" -> throw new SilentException();
            case "interrupted" -> throw new InterruptedException("by itself");
            case "exit" -> System.exit(1);
            case "runtime exit" -> Runtime.getRuntime().exit(2);
            case "halt" -> Runtime.getRuntime().halt(3);
            case "sleep" -> {
                try {
                    Thread.sleep(600_000);
                } finally {
                    HookProbe.note(hook + " interrupted");
                }
            }
            case "lock" -> HookProbe.waitForLockInterruptibly();
            case "spin" -> HookProbe.spin();
            default -> {
                return fault;
            }
        }
        throw new IllegalStateException("%s ended".formatted(fault));
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> E unchecked(Exception e) throws E {
        throw (E) e;
    }
}
