package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/// `Accept` for the fuzzer.
public final class AcceptFuzz {

    private AcceptFuzz() {}

    public static void read(byte[] bytes) {
        try {
            Accept.choose(
                    Optional.of(new String(bytes, StandardCharsets.ISO_8859_1)),
                    List.of(MediaType.JSON, MediaType.CSV),
                    MediaType.JSON);
        } catch (ServingException e) {
            if (e.type() != ErrorType.NOT_ACCEPTABLE) {
                throw e;
            }
        }
    }
}
