package dev.berth.openinference;

import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import java.util.Arrays;
import java.util.Optional;

/// The protocol's names of element types. UINT16, UINT32, UINT64 and BF16 have no type in Berth.
enum Datatype {
    BOOL(ElementType.BOOL, "bool_contents"),
    UINT8(ElementType.UINT8, "uint_contents"),
    INT8(ElementType.INT8, "int_contents"),
    INT16(ElementType.INT16, "int_contents"),
    INT32(ElementType.INT32, "int_contents"),
    INT64(ElementType.INT64, "int64_contents"),
    FP16(ElementType.FLOAT16, "raw_input_contents"),
    FP32(ElementType.FLOAT32, "fp32_contents"),
    FP64(ElementType.FLOAT64, "fp64_contents"),
    /// Texts, or any bytes.
    BYTES(ElementType.STRING, "bytes_contents");

    final ElementType type;

    /// The field of `InferTensorContents` that has the elements. Half floats are only in raw contents.
    final String contents;

    Datatype(ElementType type, String contents) {
        this.type = type;
        this.contents = contents;
    }

    /// @param type empty: texts or bytes
    static Datatype of(Optional<ElementType> type) {
        return Arrays.stream(values())
                .filter(datatype -> datatype.type == type.orElse(ElementType.STRING))
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
