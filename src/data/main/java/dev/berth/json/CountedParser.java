package dev.berth.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.IOException;

/// Counts what is made of each token before it is made. Three bytes of JSON may become a hundred in
/// memory.
final class CountedParser extends JsonParserDelegate {

    CountedParser(JsonParser parser) {
        super(parser);
    }

    @Override
    public JsonToken nextToken() throws IOException {
        var token = delegate.nextToken();
        RequestMemory.charge(cost(token));
        return token;
    }

    private long cost(JsonToken token) throws IOException {
        return switch (token) {
            case null -> 0;
            case START_OBJECT -> HeapSize.OBJECT;
            case START_ARRAY -> HeapSize.LIST;
            case FIELD_NAME ->
                HeapSize.FIELD + HeapSize.CHARACTER * delegate.currentName().length();
            case VALUE_STRING -> HeapSize.TEXT + HeapSize.CHARACTER * delegate.getTextLength();
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT, VALUE_TRUE, VALUE_FALSE, VALUE_NULL -> HeapSize.VALUE;
            case END_OBJECT, END_ARRAY, NOT_AVAILABLE, VALUE_EMBEDDED_OBJECT -> 0;
        };
    }
}
