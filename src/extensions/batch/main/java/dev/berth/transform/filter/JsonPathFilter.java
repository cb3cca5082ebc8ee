package dev.berth.transform.filter;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.hooks.BadInputException;
import java.util.ArrayList;
import java.util.List;

/// `DataProcessing.InputFilter` or `OutputFilter`: the part of JSONPath that SageMaker knows.
///
/// ```
/// $                     everything
/// $.name  $['name']     a member's value
/// $['a','b']            an object of just these members, in this order
/// $[0]  $[-1]           an element; -1 is the last
/// $[0,2]  $[1:]         a list of these elements; [0,5:] mixes both
/// $.*  $[*]             a list of all values of an object or a list
/// ```
///
/// Steps may follow each other: `$.a['b','c']`. Where a step that gives a list is followed by
/// another, the list holds what that gives for each. A missing name or index is an error, as
/// SageMaker has it; JSONPath libraries leave it out. A slice ends with the list, as the `slice()`
/// of arrays does; one that takes nothing is an error.
public record JsonPathFilter(String text, List<PathStep> steps) {

    public JsonPathFilter {
        steps = List.copyOf(steps);
    }

    /// @throws BadInputException with what was found and expected, to follow the name of the field
    ///   that holds the text
    /// @param inclusiveSlices whether `$[1:4]` is the elements 1 to 4, or 1 to 3. SageMaker's documents
    ///   contradict each other: the developer guide's prose has the one, its table of operators the other
    public static JsonPathFilter parse(String text, boolean inclusiveSlices) {
        return new JsonPathFilter(text, new JsonPathFilterParser(text, inclusiveSlices).parse());
    }

    /// Whether this is `$`.
    public boolean selectsAll() {
        return steps.isEmpty();
    }

    /// Whether this may be applied to a row of CSV, whose cells have no parts and no names.
    public boolean isForRows() {
        return steps.isEmpty()
                || (steps.size() == 1
                        && switch (steps.getFirst()) {
                            case PathStep.Elements _, PathStep.All _ -> true;
                            case PathStep.Members _, PathStep.Subset _ -> false;
                        });
    }

    /// What this selects.
    ///
    /// @throws BadInputException with what was found and expected when that is not there
    public JsonNode apply(JsonNode value) {
        var selected = List.of(value);
        boolean isList = false;
        for (var step : steps) {
            var next = new ArrayList<JsonNode>();
            for (var node : selected) {
                step.select(node, next);
            }
            isList |= step.givesList();
            selected = next;
        }
        return isList ? JsonNodeFactory.instance.arrayNode().addAll(selected) : selected.getFirst();
    }
}
