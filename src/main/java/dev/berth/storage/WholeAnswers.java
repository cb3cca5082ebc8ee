package dev.berth.storage;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;

/// Takes in each answer but an object itself before it is parsed, so that one that ends too early
/// is a lost connection and the request is sent again. The AWS SDK takes it for XML that is not
/// well-formed, and gives up.
final class WholeAnswers implements ExecutionInterceptor {

  @Override
  public Optional<InputStream> modifyHttpResponseContent(
      Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
    var body = context.responseBody();
    if (body.isEmpty()
        || (context.request() instanceof GetObjectRequest
            && context.httpResponse().isSuccessful())) {
      return body;
    }
    try (var in = body.get()) {
      return Optional.of(new ByteArrayInputStream(in.readAllBytes()));
    } catch (IOException e) {
      throw RetryableException.create("the answer ended too early", e);
    }
  }
}
