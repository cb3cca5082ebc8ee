package dev.berth.columnar;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.stream.StreamSupport;

/// A column made of answers.
///
/// @param name of the column
/// @param member of the answers that it has
/// @param kind of all its values
record AnswerColumn(String name, String member, Kind kind) {

    /// What all values of a column are.
    enum Kind {
        BOOLEAN,
        INTEGER,
        NUMBER,
        /// Lists of numbers.
        NUMBERS,
        /// Texts, or anything as its JSON.
        TEXT;

        /// @param value is not null
        static Kind of(JsonNode value) {
            if (value.isBoolean()) {
                return BOOLEAN;
            }
            if (value.isNumber()) {
                return value.isIntegralNumber() && value.canConvertToLong() ? INTEGER : NUMBER;
            }
            boolean isOfNumbers = value.isArray()
                    && StreamSupport.stream(value.spliterator(), false).allMatch(JsonNode::isNumber);
            return isOfNumbers ? NUMBERS : TEXT;
        }

        /// The kind of values of both.
        Kind or(Kind other) {
            if (this == other) {
                return this;
            }
            boolean areNumbers = (this == INTEGER || this == NUMBER) && (other == INTEGER || other == NUMBER);
            return areNumbers ? NUMBER : TEXT;
        }
    }

    /// Its value in an answer. Nothing where that has none, or null.
    Optional<JsonNode> value(JsonNode answer) {
        return Optional.ofNullable(answer.get(member)).filter(value -> !value.isNull());
    }

    /// A value of a column of [Kind#TEXT].
    static String text(JsonNode value) {
        return value.isTextual() ? value.textValue() : value.toString();
    }
}
