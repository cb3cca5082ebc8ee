package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.UnsafeByteOperations;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.content.Npy;
import dev.berth.content.Npz;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Tensor;
import dev.berth.json.JsonText;
import dev.berth.memory.RequestMemory;
import dev.berth.serving.Dialect;
import dev.berth.serving.ServedModel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/// Brings the tensors of an infer request to hooks that know nothing of the protocol, in a type
/// that they read.
///
/// 1. One element of BYTES with the parameter `content_type: image/png`, or of any other media
///    type: the element is the body.
/// 2. Numbers alone, and hooks that read NumPy's archives: the tensors are arrays of one.
/// 3. Anything else: a JSON list of records, made of the rows of all inputs. Hooks that read
///    NumPy's archives take tensors, and get it as `{"instances": …}`: a list alone may be one
///    record.
///
/// The answer comes back from an archive, an array or JSON as tensors, else as one element of BYTES
/// called `content`.
final class InferDialect implements Dialect {

    /// The tensor that a body of any type is.
    static final String CONTENT = "content";

    /// What hooks write, those types first that keep the types of numbers.
    private static final List<MediaType> ANSWERS = List.of(MediaType.NPZ, MediaType.NPY, MediaType.JSON);

    private final Messages messages;
    private final ServedModel.Visit visit;
    private final List<MediaType> requestTypes;
    private volatile InferRequest request;

    /// How many records the request is; 0: its only element is a body.
    private volatile int records;

    /// @param messages of this request
    /// @param visit with the model's hooks
    InferDialect(Messages messages, ServedModel.Visit visit) {
        this.messages = messages;
        this.visit = visit;
        this.requestTypes = visit.facts().requestTypes();
    }

    @Override
    public InvocationRequest request(InvocationRequest asked) throws IOException {
        request = messages.read(asked);
        return request.inTime(translated(asked));
    }

    private InvocationRequest translated(InvocationRequest asked) {
        var inputs = request.inputs();
        var parameters = request.ofTheModel();
        if (inputs.isEmpty()) {
            throw new BadInputException("inputs: found none, expected at least one");
        }
        for (int i = 0; i < inputs.size(); i++) {
            var name = inputs.get(i).name();
            if (inputs.stream().limit(i).anyMatch(other -> other.name().equals(name))) {
                throw new BadInputException("inputs[%d].name: found %s a second time, expected each once"
                        .formatted(i, Excerpt.quoted(name)));
            }
        }
        var signature = visit.signature();
        var whole = content(inputs, signature);
        if (whole.isPresent()) {
            requireReadable(whole.get());
            var _ = Fields.of(parameters, InferRequest.PARAMETERS, List.of());
            var bytes = inputs.getFirst().body().orElseThrow();
            return body(asked, whole.get(), whole.get().withoutParameters(), bytes.newInput());
        }
        records = InferRecords.rows(inputs.getFirst());
        check(inputs, signature.inputs());
        boolean areTensors = requestTypes.contains(MediaType.NPZ);
        if (areTensors) {
            var _ = Fields.of(parameters, InferRequest.PARAMETERS, List.of());
            if (inputs.stream().allMatch(input -> input.datatype() != Datatype.BYTES)) {
                return body(asked, MediaType.NPZ, MediaType.JSON, new ByteArrayInputStream(archive(inputs)));
            }
        }
        requireReadable(MediaType.JSON);
        var rows = InferRecords.of(inputs, areTensors);
        var json = new LinkedHashMap<String, Object>();
        json.put(areTensors ? "instances" : "inputs", rows);
        if (!parameters.isEmpty()) {
            json.put("parameters", parameters);
        }
        var text = JsonText.bytes(areTensors || !parameters.isEmpty() ? json : rows);
        return body(asked, MediaType.JSON, MediaType.JSON, new ByteArrayInputStream(text));
    }

    /// @param any what the answer is to be where the hooks write anything
    private InvocationRequest body(InvocationRequest asked, MediaType contentType, MediaType any, InputStream body) {
        var responseTypes = visit.facts().responseTypes();
        var accept = responseTypes.isEmpty()
                ? any
                : ANSWERS.stream().filter(responseTypes::contains).findFirst().orElseGet(responseTypes::getFirst);
        return asked.withTypes(contentType, accept).withBody(body);
    }

    /// The type of a body that is the only element of the only input. One called `content` is JSON by
    /// default.
    private static Optional<MediaType> content(List<InferTensor> inputs, Signature signature) {
        var input = inputs.getFirst();
        if (inputs.size() > 1 || input.datatype() != Datatype.BYTES) {
            return Optional.empty();
        }
        boolean isContent = input.name().equals(CONTENT) && signature.inputs().isEmpty();
        var type = input.contentType()
                .flatMap(MediaType::parse)
                .or(() -> isContent ? Optional.of(MediaType.JSON) : Optional.empty());
        if (type.isPresent() && input.body().isEmpty()) {
            throw new BadInputException("inputs[0]: found %d elements of %s, expected one, which is the body"
                    .formatted(input.tensor().size(), type.get()));
        }
        return type;
    }

    private void requireReadable(MediaType type) {
        if (!requestTypes.isEmpty() && !requestTypes.contains(type.withoutParameters())) {
            throw new BadInputException(
                    "inputs[0]: found what hooks get as %s, expected one element of BYTES with parameters.%s, one of %s"
                            .formatted(type, InferRequest.CONTENT_TYPE, requestTypes));
        }
    }

    private static void check(List<InferTensor> inputs, List<Signature.Column> columns) {
        for (int i = 0; i < inputs.size() && !columns.isEmpty(); i++) {
            var input = inputs.get(i);
            var place = "inputs[%d]".formatted(i);
            var column = columns.stream()
                    .filter(known -> known.name().equals(input.name()))
                    .findFirst()
                    .orElseThrow(() -> new BadInputException("%s.name: found %s, expected one of %s"
                            .formatted(
                                    place,
                                    Excerpt.quoted(input.name()),
                                    columns.stream().map(Signature.Column::name).toList())));
            if (column.type().isEmpty() != (input.datatype() == Datatype.BYTES)) {
                throw new BadInputException("%s.datatype: found %s, expected %s"
                        .formatted(place, input.datatype(), Datatype.of(column.type())));
            }
        }
    }

    private static byte[] archive(List<InferTensor> inputs) {
        var arrays = new LinkedHashMap<String, Tensor>();
        for (var input : inputs) {
            var tensor = input.tensor();
            RequestMemory.charge(3L * tensor.data().remaining());
            arrays.put(input.name(), tensor);
        }
        return Npz.write(arrays);
    }

    @Override
    public InvocationResponse response(InvocationResponse answer) throws IOException {
        var all = tensors(answer);
        var asked = request.wanted().stream().map(InferRequest.Wanted::name).toList();
        var names = all.stream().map(InferTensor::name).toList();
        for (int i = 0; i < asked.size(); i++) {
            if (!names.contains(asked.get(i))) {
                throw new BadInputException("outputs[%d].name: found %s, expected one of %s"
                        .formatted(i, Excerpt.quoted(asked.get(i)), names));
            }
        }
        var wanted = asked.isEmpty()
                ? all
                : asked.stream().map(name -> all.get(names.indexOf(name))).toList();
        var written = messages.write(request, wanted);
        return new InvocationResponse(written.body(), written.contentType(), answer.customAttributes());
    }

    private List<InferTensor> tensors(InvocationResponse answer) {
        var type = answer.contentType().withoutParameters();
        if (type.equals(MediaType.NPZ)) {
            return Npz.read(answer.body()).sequencedEntrySet().stream()
                    .map(array -> InferTensor.of(array.getKey(), array.getValue(), Optional.empty()))
                    .toList();
        }
        if (type.equals(MediaType.NPY)) {
            return List.of(InferTensor.of(onlyName(), Npy.read(answer.body()), Optional.empty()));
        }
        if (type.equals(MediaType.JSON)) {
            return JsonColumns.of(
                    json(answer.body()), onlyName(), visit.signature().outputs(), records);
        }
        return List.of(InferTensor.ofBody(
                CONTENT,
                new int[] {1},
                UnsafeByteOperations.unsafeWrap(answer.body()),
                Optional.of(answer.contentType().toString())));
    }

    private static JsonNode json(byte[] answer) {
        RequestMemory.charge(2L * answer.length);
        try {
            return Json.parse(new String(answer, StandardCharsets.UTF_8), "outputFn's answer");
        } catch (BadInputException e) {
            // Not the client's fault.
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    private String onlyName() {
        var outputs = visit.signature().outputs();
        return outputs.size() == 1 ? outputs.getFirst().name() : "output_0";
    }
}
