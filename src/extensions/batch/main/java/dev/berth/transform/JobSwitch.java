package dev.berth.transform;

import java.util.Locale;

/// What a job is told to do by naming it alone, as a flag of `transform`.
public enum JobSwitch {
    OVERWRITE("Does objects again whose output is there"),
    RETRY_ERRORS("Asks again for the records that have an error in an output that is there"),
    SPLIT_OBJECTS("Has instances share large objects too, by ranges of their lines"),
    INCLUSIVE_SLICES("Takes the end of a filter's slice as part of it");

    private final String meaning;

    JobSwitch(String meaning) {
        this.meaning = meaning;
    }

    /// `--inclusive-slices`.
    public String flag() {
        return "--" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public String meaning() {
        return meaning;
    }
}
