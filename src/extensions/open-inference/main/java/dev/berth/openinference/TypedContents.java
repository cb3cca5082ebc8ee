package dev.berth.openinference;

import dev.berth.content.TensorInputs;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import dev.berth.openinference.Inference.InferTensorContents;
import java.util.Arrays;
import java.util.List;

/// `InferTensorContents`: elements in the field of their type.
final class TypedContents {

    private TypedContents() {}

    static InferTensor read(InferHeader header, InferTensorContents contents) {
        var fields = contents.getAllFields();
        var names = fields.keySet().stream().map(field -> field.getName()).toList();
        if (names.size() > 1) {
            throw new BadInputException("%s.contents: found %s, expected one of them"
                    .formatted(header.place(), String.join(" and ", names)));
        }
        var expected = header.datatype().contents;
        if (names.isEmpty() ? header.size() > 0 : !names.contains(expected)) {
            throw new BadInputException("%s.contents: found %s, expected %s for %s"
                    .formatted(
                            header.place(), names.isEmpty() ? "none" : names.getFirst(), expected, header.datatype()));
        }
        var values = fields.values().stream().findFirst().map(List.class::cast).orElse(List.of());
        header.requireSize(values.size(), "contents");
        return header.datatype().type().isEmpty()
                ? header.of(contents.getBytesContentsList())
                : header.of(numbers(header, values));
    }

    private static Tensor numbers(InferHeader header, List<?> values) {
        RequestMemory.charge(2L * Long.BYTES * values.size());
        var type = header.datatype().type().orElseThrow();
        var numbers = type.isFloating()
                ? Tensor.of(
                        values.stream()
                                .mapToDouble(value -> ((Number) value).doubleValue())
                                .toArray(),
                        values.size())
                : Tensor.of(
                        values.stream()
                                .mapToLong(value -> whole(value, header.datatype()))
                                .toArray(),
                        values.size());
        var inputs = new TensorInputs(List.of(), List.of(type));
        return inputs.converted(numbers, 0, header.place() + ".contents");
    }

    private static long whole(Object value, Datatype datatype) {
        return switch (value) {
            case Boolean flag -> flag ? 1 : 0;
            case Integer number when datatype == Datatype.UINT8 -> Integer.toUnsignedLong(number);
            default -> ((Number) value).longValue();
        };
    }

    static InferTensorContents of(InferTensor tensor) {
        var contents = InferTensorContents.newBuilder();
        switch (tensor) {
            case InferTensor.Bytes bytes -> contents.addAllBytesContents(bytes.elements());
            case InferTensor.Numbers(var _, var numbers) -> {
                RequestMemory.charge(32L * numbers.size());
                switch (tensor.datatype()) {
                    case FP32 -> {
                        for (float value : numbers.floats()) {
                            contents.addFp32Contents(value);
                        }
                    }
                    case FP64 -> Arrays.stream(numbers.doubles()).forEach(contents::addFp64Contents);
                    case BOOL -> Arrays.stream(numbers.longs()).forEach(value -> contents.addBoolContents(value != 0));
                    case UINT8 ->
                        Arrays.stream(numbers.longs()).forEach(value -> contents.addUintContents((int) value));
                    case INT8, INT16, INT32 ->
                        Arrays.stream(numbers.longs()).forEach(value -> contents.addIntContents((int) value));
                    case INT64 -> Arrays.stream(numbers.longs()).forEach(contents::addInt64Contents);
                    case FP16, BYTES -> throw new IllegalStateException(tensor.datatype() + " has no typed contents");
                }
            }
        }
        return contents.build();
    }
}
