package dev.berth.config;

import java.util.List;

/// The server, or a job, can't run as it was told to. Holds every problem that was found, one line each.
public final class ConfigurationException extends RuntimeException {

    private final List<String> problems;

    public ConfigurationException(List<String> problems) {
        super(String.join(System.lineSeparator(), problems));
        this.problems = List.copyOf(problems);
    }

    public List<String> problems() {
        return problems;
    }
}
