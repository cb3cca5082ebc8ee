package dev.berth.hooks;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A model that is loaded with a handler's hooks on the calling thread, without a server: for tests of hooks.
///
/// ```java
/// try (var model = LocalModel.load(new Inference(directory), directory)) {
///   assertEquals("{\"answer\":\"Warsaw\"}", model.invoke(MediaType.JSON, "{\"question\": …}"));
/// }
/// ```
///
/// Use it on one thread only. The hooks are called as the server calls them, in the same order, one request at a time and
/// on a CPU; what they throw comes out as it is.
public final class LocalModel implements AutoCloseable {

  private final Hooks<?, ?, ?> hooks;

  private LocalModel(Hooks<?, ?, ?> hooks) {
    this.hooks = hooks;
  }

  /// Calls `modelFn` and `warmUpFn`.
  ///
  /// @param handler closed with this
  public static <M, I, O> LocalModel load(InferenceHandler<M, I, O> handler, Path modelDirectory) throws Exception {
    var cpu = new Accelerator.Cpu(Runtime.getRuntime().availableProcessors(), CpuProfile.ADAPTIVE);
    var model = handler.modelFn(new ModelContext(modelDirectory, cpu, 0, List.of(cpu)));
    handler.warmUpFn(model);
    return new LocalModel(new Hooks<>(handler, model));
  }

  /// Answers a request.
  ///
  /// @param accept the type that the response should have
  public InvocationResponse invoke(MediaType contentType, byte[] body, MediaType accept) throws Exception {
    return hooks.invoke(new InvocationRequest(
        new ByteArrayInputStream(body), contentType, accept, Optional.empty(), "local", false));
  }

  /// Answers a request of text in the type that it has itself.
  public String invoke(MediaType contentType, String body) throws Exception {
    var response = invoke(contentType, body.getBytes(StandardCharsets.UTF_8), contentType);
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws Exception {
    hooks.close();
  }

  /// A handler and what its `modelFn` gave.
  private record Hooks<M, I, O>(InferenceHandler<M, I, O> handler, M model) implements AutoCloseable {

    InvocationResponse invoke(InvocationRequest request) throws Exception {
      var records = handler.inputFn(request);
      var split = records.stream().map(handler::split).toList();
      var pieces = split.stream().flatMap(List::stream).toList();
      var predictions = pieces.isEmpty() ? List.<O>of() : handler.predictFn(pieces, model);
      if (predictions.size() != pieces.size()) {
        throw new IllegalStateException(
            "predictFn: found %d predictions, expected %d, one for each record".formatted(predictions.size(), pieces.size()));
      }
      var joined = new ArrayList<O>(records.size());
      int from = 0;
      for (var parts : split) {
        int to = from + parts.size();
        var own = predictions.subList(from, to);
        joined.add(parts.size() == 1 ? own.getFirst() : handler.join(records.get(joined.size()), own));
        from = to;
      }
      return handler.outputFn(joined, request);
    }

    @Override
    public void close() throws Exception {
      if (model instanceof AutoCloseable closeable) {
        closeable.close();
      }
      if (handler instanceof AutoCloseable closeable) {
        closeable.close();
      }
    }
  }
}
