package dev.berth.transform;

import java.util.List;

/// A job that can't be run as it is written: everything that is wrong with it.
public final class JobException extends Exception {

    private final List<String> problems;

    public JobException(List<String> problems) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
    }

    public List<String> problems() {
        return problems;
    }
}
