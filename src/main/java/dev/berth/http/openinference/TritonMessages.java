package dev.berth.http.openinference;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import dev.berth.hooks.BadInputException;
import dev.berth.http.openinference.Inference.DataType;
import dev.berth.http.openinference.Inference.InferStatistics;
import dev.berth.http.openinference.Inference.ModelConfig;
import dev.berth.http.openinference.Inference.ModelDynamicBatching;
import dev.berth.http.openinference.Inference.ModelInput;
import dev.berth.http.openinference.Inference.ModelOutput;
import dev.berth.http.openinference.Inference.ModelStatistics;
import dev.berth.http.openinference.Inference.RepositoryIndexRequest;
import dev.berth.http.openinference.Inference.RepositoryIndexResponse.ModelIndex;
import dev.berth.http.openinference.Inference.RepositoryModelLoadRequest;
import dev.berth.http.openinference.Inference.StatisticDuration;
import dev.berth.metrics.ModelMetrics.Spent;
import dev.berth.metrics.ModelMetrics.Totals;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The messages of Triton's extensions: the model's configuration, statistics and the model
/// repository. JSON has the fields of the same messages.
public final class TritonMessages {

  private TritonMessages() {}

  /// A load or an unload that is asked for.
  ///
  /// @param parameters their names
  public record Change(String model, Set<String> parameters) {}

  /// @param mostRecords that one request may have
  public static ModelConfig config(ModelMetadata model, int mostRecords) {
    var config =
        ModelConfig.newBuilder()
            .setName(model.name())
            .setPlatform(model.platform())
            .setBackend(model.platform())
            .setMaxBatchSize(mostRecords)
            .setDynamicBatching(ModelDynamicBatching.getDefaultInstance());
    for (var column : model.inputs()) {
      config.addInput(
          ModelInput.newBuilder()
              .setName(column.name())
              .setDataType(type(column.datatype()))
              .addAllDims(dims(column)));
    }
    for (var column : model.outputs()) {
      config.addOutput(
          ModelOutput.newBuilder()
              .setName(column.name())
              .setDataType(type(column.datatype()))
              .addAllDims(dims(column)));
    }
    return config.build();
  }

  private static DataType type(Datatype datatype) {
    return DataType.valueOf("TYPE_" + (datatype == Datatype.BYTES ? "STRING" : datatype.name()));
  }

  /// Without the records.
  private static List<Long> dims(ModelMetadata.Column column) {
    return Arrays.stream(column.shape()).skip(1).asLongStream().boxed().toList();
  }

  /// @param totals empty: the model is not loaded
  public static ModelStatistics statistics(InferTarget target, Optional<Totals> totals) {
    var statistics =
        ModelStatistics.newBuilder().setName(target.model()).setVersion(target.version());
    totals.ifPresent(
        of ->
            statistics
                .setLastInference(of.lastPredicted())
                .setInferenceCount(of.records())
                .setExecutionCount(of.predicted().count())
                .setInferenceStats(
                    InferStatistics.newBuilder()
                        .setSuccess(duration(of.succeeded()))
                        .setFail(duration(of.failed()))
                        .setQueue(duration(of.queued()))
                        .setComputeInput(duration(of.decoded()))
                        .setComputeInfer(duration(of.predicted()))
                        .setComputeOutput(duration(of.encoded()))));
    return statistics.build();
  }

  private static StatisticDuration duration(Spent spent) {
    return StatisticDuration.newBuilder().setCount(spent.count()).setNs(spent.nanos()).build();
  }

  public static ModelIndex indexed(InferTarget target, String state, String reason) {
    return ModelIndex.newBuilder()
        .setName(target.model())
        .setVersion(target.version())
        .setState(state)
        .setReason(reason)
        .build();
  }

  /// Whether a `RepositoryIndexRequest` asks for models that are ready alone.
  ///
  /// @throws BadInputException when it is none
  public static boolean asksForReady(byte[] message) {
    try {
      return RepositoryIndexRequest.parseFrom(message).getReady();
    } catch (InvalidProtocolBufferException e) {
      throw new BadInputException("message: not a RepositoryIndexRequest", e);
    }
  }

  /// Reads `RepositoryModelLoadRequest` or `RepositoryModelUnloadRequest`, which are alike.
  ///
  /// @throws BadInputException when it is none
  public static Change change(byte[] message) {
    try {
      var change = RepositoryModelLoadRequest.parseFrom(message);
      return new Change(change.getModelName(), change.getParametersMap().keySet());
    } catch (InvalidProtocolBufferException e) {
      throw new BadInputException("message: not one that names a model and its parameters", e);
    }
  }

  /// A message in plain Java, by the names of its fields, also of those that have no value.
  public static Map<String, Object> json(Message message) {
    var fields = new LinkedHashMap<String, Object>();
    for (var field : message.getDescriptorForType().getFields()) {
      if (field.isRepeated()) {
        fields.put(field.getName(), ((List<?>) message.getField(field)).stream().map(TritonMessages::plain).toList());
      } else if (field.getJavaType() != FieldDescriptor.JavaType.MESSAGE
          || message.hasField(field)) {
        fields.put(field.getName(), plain(message.getField(field)));
      }
    }
    return fields;
  }

  private static Object plain(Object value) {
    return switch (value) {
      case Message message -> json(message);
      case EnumValueDescriptor constant -> constant.getName();
      default -> value;
    };
  }
}
