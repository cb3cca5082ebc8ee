package dev.berth.http.protocol;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// `ModelInferRequest` and `ModelInferResponse` of the published proto, field by field: generated
/// classes would copy each tensor before it can be counted.
public final class ProtobufMessages implements Messages {

  private final InferTarget target;
  private boolean raw;

  public ProtobufMessages(InferTarget target) {
    this.target = target;
  }

  /// An input before its elements are known: they may come behind all inputs.
  private static final class Input {
    private String name = "";
    private String datatype = "";
    private final List<Long> shape = new ArrayList<>();
    private final Map<String, Object> parameters = new LinkedHashMap<>();
    private Optional<TypedContents> contents = Optional.empty();

    private InferTensor tensor(Optional<ByteBuffer> raw, String place) {
      var type = Datatype.named(datatype, place);
      var lengths = shape.stream().mapToLong(Long::longValue).toArray();
      var contentType =
          Optional.ofNullable(
                  InferParameters.known(
                          parameters, InferParameters.OF_INPUTS, place + ".parameters")
                      .get(InferParameters.CONTENT_TYPE))
              .map(Object::toString);
      return raw.isPresent()
          ? InferTensor.ofRaw(name, type, lengths, raw.get(), contentType, place)
          : contents.orElseGet(TypedContents::new).tensor(name, type, lengths, contentType, place);
    }
  }

  @Override
  public InferRequest read(InvocationRequest asked) throws IOException {
    var message = GrpcFrame.message(asked.bytes());
    try {
      return read(message);
    } catch (InvalidProtocolBufferException e) {
      throw new BadInputException("message: not a ModelInferRequest: " + e.getMessage(), e);
    }
  }

  private InferRequest read(ByteBuffer message) throws IOException {
    var in = CodedInputStream.newInstance(message);
    // Tensors are parts of the body, and not copied.
    in.enableAliasing(true);
    Optional<String> id = Optional.empty();
    var parameters = new LinkedHashMap<String, Object>();
    var inputs = new ArrayList<Input>();
    var wanted = new ArrayList<InferRequest.Wanted>();
    var raws = new ArrayList<ByteBuffer>();
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      switch (WireFormat.getTagFieldNumber(tag)) {
        case 3 -> id = Optional.of(in.readStringRequireUtf8()).filter(text -> !text.isEmpty());
        case 4 -> Protobuf.nested(in, () -> Protobuf.parameter(in, parameters));
        case 5 -> inputs.add(input(in));
        case 6 -> wanted.add(wanted(in, "outputs[%d]".formatted(wanted.size())));
        case 7 -> raws.add(in.readByteBuffer());
        default -> in.skipField(tag);
      }
    }
    raw = !raws.isEmpty();
    return new InferRequest(id, tensors(inputs, raws), parameters, wanted, true);
  }

  private static List<InferTensor> tensors(List<Input> inputs, List<ByteBuffer> raws) {
    if (!raws.isEmpty() && raws.size() != inputs.size()) {
      throw new BadInputException(
          "raw_input_contents: found %d, expected %d, one for each input"
              .formatted(raws.size(), inputs.size()));
    }
    var tensors = new ArrayList<InferTensor>();
    for (int i = 0; i < inputs.size(); i++) {
      var place = "inputs[%d]".formatted(i);
      if (!raws.isEmpty() && inputs.get(i).contents.isPresent()) {
        throw new BadInputException(
            place + ".contents: found raw_input_contents too, expected one of them");
      }
      tensors.add(
          inputs
              .get(i)
              .tensor(raws.isEmpty() ? Optional.empty() : Optional.of(raws.get(i)), place));
    }
    return tensors;
  }

  private static Input input(CodedInputStream in) throws IOException {
    var input = new Input();
    Protobuf.message(
        in,
        tag -> {
          switch (WireFormat.getTagFieldNumber(tag)) {
            case 1 -> input.name = in.readStringRequireUtf8();
            case 2 -> input.datatype = in.readStringRequireUtf8();
            case 3 ->
                Protobuf.repeated(
                    in,
                    tag,
                    () -> {
                      RequestMemory.charge(Long.BYTES * 4);
                      input.shape.add(in.readInt64());
                    });
            case 4 -> Protobuf.nested(in, () -> Protobuf.parameter(in, input.parameters));
            case 5 -> {
              var contents = new TypedContents();
              Protobuf.message(in, inner -> contents.read(in, inner));
              input.contents = Optional.of(contents);
            }
            default -> in.skipField(tag);
          }
        });
    return input;
  }

  private static InferRequest.Wanted wanted(CodedInputStream in, String place) throws IOException {
    var name = new String[] {""};
    var parameters = new LinkedHashMap<String, Object>();
    Protobuf.message(
        in,
        tag -> {
          switch (WireFormat.getTagFieldNumber(tag)) {
            case 1 -> name[0] = in.readStringRequireUtf8();
            case 2 -> Protobuf.nested(in, () -> Protobuf.parameter(in, parameters));
            default -> in.skipField(tag);
          }
        });
    InferParameters.known(parameters, InferParameters.OF_OUTPUTS, place + ".parameters");
    return new InferRequest.Wanted(name[0], Optional.empty());
  }

  /// Raw contents answer raw contents, and half floats, which have no typed ones.
  @Override
  public InvocationResponse write(InferRequest request, List<InferTensor> outputs) {
    boolean asBytes =
        raw || outputs.stream().anyMatch(output -> output.datatype() == Datatype.FP16);
    return GrpcFrame.of(
        message -> {
          message.writeString(1, target.model());
          message.writeString(2, target.version());
          if (request.id().isPresent()) {
            message.writeString(3, request.id().get());
          }
          for (var output : outputs) {
            message.writeByteArray(5, tensor(output, asBytes));
          }
          if (asBytes) {
            for (var output : outputs) {
              write(6, output.raw(), message);
            }
          }
        });
  }

  private static void write(int field, List<ByteBuffer> parts, CodedOutputStream message)
      throws IOException {
    int length = parts.stream().mapToInt(ByteBuffer::remaining).sum();
    RequestMemory.charge(2L * length);
    message.writeTag(field, WireFormat.WIRETYPE_LENGTH_DELIMITED);
    message.writeUInt32NoTag(length);
    for (var part : parts) {
      message.write(part.duplicate());
    }
  }

  private static byte[] tensor(InferTensor output, boolean asBytes) {
    return Protobuf.bytes(
        tensor -> {
          tensor.writeString(1, output.name());
          tensor.writeString(2, output.datatype().name());
          Protobuf.writeShape(3, output.shape(), tensor);
          if (output.contentType().isPresent()) {
            tensor.writeByteArray(
                4,
                Protobuf.textParameter(InferParameters.CONTENT_TYPE, output.contentType().get()));
          }
          if (!asBytes) {
            tensor.writeByteArray(5, TypedContents.write(output));
          }
        });
  }
}
