package dev.berth.transform.filter;

import dev.berth.content.Json;
import java.nio.charset.StandardCharsets;

/// The filters of a job for the fuzzer: parsed, and applied to a record.
public final class JsonPathFilterFuzz {

    private static final String RECORD = "{\"a\": [1, {\"b\": [2, 3]}, []], \"b\": {}, \"c\": \"d\"}";

    private JsonPathFilterFuzz() {}

    public static void read(byte[] bytes) throws Exception {
        for (boolean isInclusive : new boolean[] {false, true}) {
            JsonPathFilter.parse(new String(bytes, StandardCharsets.UTF_8), isInclusive)
                    .apply(Json.parse(RECORD, "record"));
        }
    }
}
