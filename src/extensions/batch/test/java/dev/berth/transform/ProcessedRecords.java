package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Records and answers as texts, through a [RecordProcessing].
final class ProcessedRecords {

    static final String CSV = "text/csv";
    static final String JSON_LINES = "application/jsonlines";

    private ProcessedRecords() {}

    static String output(RecordProcessing processing, String input, String answer) {
        return output(processing, 1, input, answer);
    }

    static String output(RecordProcessing processing, long first, String input, String answer) {
        var batch = payload(first, input.getBytes(UTF_8));
        return new String(processing.output(batch, answer.getBytes(UTF_8)), UTF_8);
    }

    static String sent(RecordProcessing processing, String record) {
        return new String(processing.filterInput(record.getBytes(UTF_8), 1), UTF_8);
    }

    static RecordProcessing processing(
            String type, SplitType splitType, String inputFilter, String joinSource, String outputFilter) {
        return processing(type, splitType, inputFilter, joinSource, outputFilter, Set.of());
    }

    static RecordProcessing processing(
            String type,
            SplitType splitType,
            String inputFilter,
            String joinSource,
            String outputFilter,
            Set<JobOption> switches) {
        var options = JobFlags.of(
                "--input in --output out --content-type %s --accept %s --split-type %s --assemble-with %s "
                        + "--input-filter %s --join-source %s --output-filter %s",
                type, type, splitType, splitType.areLines() ? "Line" : "None", inputFilter, joinSource, outputFilter);
        switches.forEach(each -> options.put(each, "true"));
        return JobFlags.read(options).kind().records().processing().orElseThrow();
    }

    /// One that was filtered.
    static Payload payload(long first, byte[] input) {
        return new Payload(first, List.of(new Payload.Sent(input, new byte[0], false, Optional.empty())));
    }
}
