package dev.berth.conformance;

/// Asks a container what one row of the contract says.
@FunctionalInterface
interface Check {

    /// @return what came back, in a few words
    /// @throws Missed if it is not what the row expects
    /// @throws NotAsked if the row does not concern this container, or cannot be asked with what the
    ///   caller gave
    String run(Container container) throws Exception;

    /// The container does something else.
    final class Missed extends Exception {
        private static final long serialVersionUID = 1;

        Missed(String found) {
            super(found);
        }
    }

    /// The row was not asked.
    final class NotAsked extends Exception {
        private static final long serialVersionUID = 1;

        NotAsked(String why) {
            super(why);
        }
    }

    /// Ends a check that found something else.
    static void expect(boolean holds, String found) throws Missed {
        if (!holds) {
            throw new Missed(found);
        }
    }

    /// Ends a check that found another status, with the status and how the body begins.
    static void expect(Answer answer, int... statuses) throws Missed {
        for (int status : statuses) {
            if (answer.status() == status) {
                return;
            }
        }
        throw new Missed(answer.shown());
    }
}
