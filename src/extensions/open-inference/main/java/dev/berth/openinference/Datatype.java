package dev.berth.openinference;

import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import java.util.Arrays;
import java.util.Optional;

/// The protocol's names of element types. UINT16, UINT32, UINT64 and BF16 have no type in Berth.
enum Datatype {
    BOOL(ElementType.BOOL),
    UINT8(ElementType.UINT8),
    INT8(ElementType.INT8),
    INT16(ElementType.INT16),
    INT32(ElementType.INT32),
    INT64(ElementType.INT64),
    FP16(ElementType.FLOAT16),
    FP32(ElementType.FLOAT32),
    FP64(ElementType.FLOAT64),
    /// Texts, or any bytes.
    BYTES(null);

    private final ElementType type;

    Datatype(ElementType type) {
        this.type = type;
    }

    /// Nothing for [#BYTES].
    Optional<ElementType> type() {
        return Optional.ofNullable(type);
    }

    /// @param type empty: texts or bytes
    static Datatype of(Optional<ElementType> type) {
        return Arrays.stream(values())
                .filter(datatype -> datatype.type().equals(type))
                .findFirst()
                .orElseThrow();
    }

    /// @param place what messages call the tensor
    static Datatype named(String name, String place) {
        return Arrays.stream(values())
                .filter(datatype -> datatype.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new BadInputException("%s.datatype: found %s, expected one of %s"
                        .formatted(place, Excerpt.quoted(name), Arrays.toString(values()))));
    }
}
