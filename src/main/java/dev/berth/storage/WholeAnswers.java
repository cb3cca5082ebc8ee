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

/// Reads an answer to its end before it is parsed, so that one that is cut short is asked for again. The SDK fails for
/// good where a connection ends within the XML.
///
/// Objects are left alone: they may be of any length, and [S3Reader] asks for the rest itself.
final class WholeAnswers implements ExecutionInterceptor {

  @Override
  public Optional<InputStream> modifyHttpResponseContent(
      Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
    if (context.request() instanceof GetObjectRequest || context.responseBody().isEmpty()) {
      return context.responseBody();
    }
    try (var body = context.responseBody().get()) {
      return Optional.of(new ByteArrayInputStream(body.readAllBytes()));
    } catch (IOException e) {
      throw RetryableException.create("the answer ended early", e);
    }
  }
}
