package dev.berth.http.protocol;

import dev.berth.content.Json;
import dev.berth.hooks.Signature;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// What clients are told about the server and its models, as JSON.
public final class ModelMetadata {

  static final String PLATFORM = "berth";

  private ModelMetadata() {}

  /// The answer of `GET /v2`.
  public static byte[] serverJson(String name, String version, List<String> extensions) {
    var fields = new LinkedHashMap<String, Object>();
    fields.put("name", name);
    fields.put("version", version);
    fields.put("extensions", extensions);
    return bytes(fields);
  }

  /// `{"live": true}` or `{"ready": true}`.
  public static byte[] yes(String field) {
    return bytes(Map.of(field, true));
  }

  /// The answer of `GET /v2/models/{name}/ready`.
  public static byte[] ready(InferTarget target) {
    var fields = new LinkedHashMap<String, Object>();
    fields.put("name", target.model());
    fields.put("ready", true);
    return bytes(fields);
  }

  /// The answer of `GET /v2/models/{name}`.
  public static byte[] json(InferTarget target, Signature signature) {
    var fields = new LinkedHashMap<String, Object>();
    fields.put("name", target.model());
    fields.put("versions", List.of(target.version()));
    fields.put("platform", PLATFORM);
    fields.put("inputs", signature.inputs().stream().map(ModelMetadata::json).toList());
    fields.put("outputs", signature.outputs().stream().map(ModelMetadata::json).toList());
    return bytes(fields);
  }

  private static byte[] bytes(Map<String, ?> fields) {
    return Json.write(fields).getBytes(StandardCharsets.UTF_8);
  }

  private static Map<String, Object> json(Signature.Column column) {
    var fields = new LinkedHashMap<String, Object>();
    fields.put("name", column.name());
    fields.put("datatype", Datatype.of(column.type()));
    fields.put("shape", shape(column));
    return fields;
  }

  /// As many records as the client likes, and what is known of each.
  static int[] shape(Signature.Column column) {
    return IntStream.concat(IntStream.of(-1), column.shape().stream().mapToInt(Integer::intValue))
        .toArray();
  }
}
