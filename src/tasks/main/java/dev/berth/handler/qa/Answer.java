package dev.berth.handler.qa;

/// One answer: a span of the context.
///
/// @param answer `context[start:end]`; empty when the model says that there is no answer
/// @param score its probability; more than 1 where several windows are sure of the same text
/// @param start where it begins in the context, in Unicode code points
/// @param end where it ends, exclusive
public record Answer(String answer, double score, int start, int end) {}
