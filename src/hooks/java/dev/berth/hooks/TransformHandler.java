package dev.berth.hooks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// One hook from a whole request to its whole response, as `transform_fn` in Python, beside
/// `modelFn`.
///
/// ```java
/// public final class Inference implements TransformHandler<Void> {
///   public Void modelFn(ModelContext context) { return null; }
///   public InvocationResponse transformFn(InvocationRequest request, Void model) throws IOException {
///     return InvocationResponse.of(request.text().toUpperCase(), MediaType.TEXT);
///   }
/// }
/// ```
///
/// It excludes `inputFn`, `predictFn` and `outputFn`: a class that has one of those besides is
/// refused at start. A request is one record then, so requests share no batch and a worker answers
/// one of them after another. Prefer [InferenceHandler], which decodes on threads of its own and
/// batches.
///
/// @param <M> the loaded model, one per worker
public interface TransformHandler<M> extends InferenceHandler<M, InvocationRequest, InvocationResponse> {

    /// Answers a request, whose body is in memory already, on a thread of workers, as
    /// `predictFn` does. May throw what the three hooks in whose place it stands may throw.
    InvocationResponse transformFn(InvocationRequest request, M model) throws Exception;

    @Override
    default List<InvocationRequest> inputFn(InvocationRequest request) throws IOException {
        return List.of(request.withBytes());
    }

    @Override
    default List<InvocationResponse> predictFn(List<InvocationRequest> records, M model) throws Exception {
        var responses = new ArrayList<InvocationResponse>(records.size());
        for (var request : records) {
            var response = transformFn(request, model);
            if (response == null) {
                throw new IllegalStateException("found null, expected a response");
            }
            responses.add(response);
        }
        return responses;
    }

    @Override
    default InvocationResponse outputFn(List<InvocationResponse> predictions, InvocationRequest request) {
        return predictions.getFirst();
    }

    @Override
    default int maxBatchSize(Accelerator accelerator) {
        return 1;
    }
}
