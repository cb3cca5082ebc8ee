package dev.berth.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Where the special tokens of a row stand, as the `post_processor` of a `tokenizer.json` says.
///
/// @param single the parts of a row of one text
/// @param pair the parts of a row of two
record RowTemplate(List<Part> single, List<Part> pair) {

    private static final int SPECIAL = -1;

    /// A special token, or all tokens of a text.
    ///
    /// @param id of the special token
    /// @param sequence the text, 0 or 1; -1: this is a special token
    record Part(long id, long typeId, int sequence) {
        boolean isSpecial() {
            return sequence == SPECIAL;
        }
    }

    private static final RowTemplate PLAIN = new RowTemplate(List.of(text(0, 0)), List.of(text(0, 0), text(1, 1)));

    RowTemplate {
        single = List.copyOf(single);
        pair = List.copyOf(pair);
    }

    /// @throws IOException when the post-processor is not known
    static RowTemplate of(JsonNode processor) throws IOException {
        return switch (processor.path("type").asText("")) {
            // The library moves offsets by itself.
            case "", "ByteLevel" -> PLAIN;
            case "BertProcessing" -> {
                var begin = special(processor.at("/cls/1"), 0);
                yield new RowTemplate(
                        List.of(begin, text(0, 0), special(processor.at("/sep/1"), 0)),
                        List.of(
                                begin,
                                text(0, 0),
                                special(processor.at("/sep/1"), 0),
                                text(1, 1),
                                special(processor.at("/sep/1"), 1)));
            }
            case "RobertaProcessing" -> {
                var begin = special(processor.at("/cls/1"), 0);
                var end = special(processor.at("/sep/1"), 0);
                yield new RowTemplate(
                        List.of(begin, text(0, 0), end), List.of(begin, text(0, 0), end, end, text(1, 0), end));
            }
            case "TemplateProcessing" ->
                new RowTemplate(
                        parts(processor.path("single"), processor.path("special_tokens")),
                        parts(processor.path("pair"), processor.path("special_tokens")));
            case "Sequence" -> last(processor.path("processors"));
            default ->
                throw new IOException("post_processor.type: found \"%s\", expected BertProcessing, ByteLevel, "
                        .concat("RobertaProcessing, Sequence or TemplateProcessing")
                        .formatted(processor.path("type").asText()));
        };
    }

    private static RowTemplate last(JsonNode processors) throws IOException {
        var template = PLAIN;
        for (var processor : processors) {
            var next = of(processor);
            if (!next.equals(PLAIN) && !template.equals(PLAIN)) {
                throw new IOException("post_processor.processors: found two that add special tokens, expected one");
            }
            template = next.equals(PLAIN) ? template : next;
        }
        return template;
    }

    private static List<Part> parts(JsonNode template, JsonNode specialTokens) throws IOException {
        var parts = new ArrayList<Part>();
        for (var piece : template) {
            var sequence = piece.path("Sequence");
            if (sequence.isObject()) {
                parts.add(text(
                        sequence.path("id").asText().equals("A") ? 0 : 1,
                        sequence.path("type_id").longValue()));
                continue;
            }
            var token = piece.path("SpecialToken");
            var ids = specialTokens.path(token.path("id").asText()).path("ids");
            if (ids.isEmpty()) {
                throw new IOException("post_processor.special_tokens: found no ids for %s".formatted(token.path("id")));
            }
            for (var id : ids) {
                parts.add(special(id, token.path("type_id").longValue()));
            }
        }
        return parts;
    }

    private static Part special(JsonNode id, long typeId) throws IOException {
        if (!id.isIntegralNumber()) {
            throw new IOException(
                    "post_processor: found %s as the id of a special token, expected a number".formatted(id));
        }
        return new Part(id.longValue(), typeId, SPECIAL);
    }

    private static Part text(int sequence, long typeId) {
        return new Part(0, typeId, sequence);
    }

    /// A row of texts that are cut to fit.
    ///
    /// @param texts one or two, by the indexes of their strings
    Encoding row(List<Tokens> texts, Truncation truncation) {
        var parts = texts.size() == 1 ? single : pair;
        int special = Math.toIntExact(parts.stream().filter(Part::isSpecial).count());
        int second = texts.size() == 1 ? 0 : texts.getLast().size();
        var kept = truncation.kept(texts.getFirst().size(), second, special);
        var lengths = new int[] {kept.first(), kept.second()};
        int size = special;
        for (var part : parts) {
            size += part.isSpecial() ? 0 : lengths[part.sequence];
        }
        var row = Encoding.ofSize(size, 0, 0, 1);
        int at = 0;
        for (var part : parts) {
            if (part.isSpecial()) {
                row.ids()[at] = part.id;
                row.typeIds()[at++] = part.typeId;
            } else {
                var text = texts.get(part.sequence);
                int count = lengths[part.sequence];
                int from = truncation.side() == Truncation.Side.RIGHT ? 0 : text.size() - count;
                System.arraycopy(text.ids(), from, row.ids(), at, count);
                System.arraycopy(text.starts(), from, row.starts(), at, count);
                System.arraycopy(text.ends(), from, row.ends(), at, count);
                Arrays.fill(row.typeIds(), at, at + count, part.typeId);
                Arrays.fill(row.specialTokensMask(), at, at + count, 0);
                Arrays.fill(row.sequences(), at, at + count, part.sequence);
                for (int i = 0; i < count; i++) {
                    row.words()[at + i] = (int) Math.max(-1, text.words()[from + i]);
                }
                at += count;
            }
        }
        return row;
    }
}
