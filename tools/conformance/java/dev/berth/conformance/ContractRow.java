package dev.berth.conformance;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/// One row of the contract: what is sent, what must come back, and who says so.
///
/// @param id such as `PING-01`; it never changes
/// @param mark P0 and P: documented by AWS; A: AWS's own containers do it so; R: a recommendation
/// @param sent what is sent or done
/// @param expected what must come back
/// @param source where that is written
record ContractRow(String id, String mark, String sent, String expected, String source) {

    /// Reads the tables of `docs/internals/contract.md`, which lies beside the classes, so that the words of a
    /// row stand in one place.
    ///
    /// @return the rows by id, in the file's order
    static Map<String, ContractRow> read() throws IOException {
        var rows = new LinkedHashMap<String, ContractRow>();
        try (var file = ContractRow.class.getResourceAsStream("/contract.md")) {
            var text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            for (var line : text.lines().toList()) {
                var cells = Arrays.stream(line.split("(?<!\\\\)\\|"))
                        .map(String::strip)
                        .toList();
                if (cells.size() > 5 && cells.get(1).matches("[A-Z]+-\\d\\d")) {
                    rows.put(
                            cells.get(1),
                            new ContractRow(cells.get(1), cells.get(2), cells.get(3), cells.get(4), cells.get(5)));
                }
            }
        }
        return rows;
    }
}
