package dev.berth.transform;

import java.util.Optional;

/// What the objects of a job are, and what becomes of them. Each kind reads its own options.
interface JobKind {

    /// The records that a container gets, and what it answers.
    Records records();

    /// The content type of the outputs.
    Optional<String> outputType();

    /// What the bytes of an output depend on.
    String madeBy();

    /// Whether an error that stands in an output is found there.
    boolean findsErrors();

    /// Tells why objects can't be split. An output must not depend on which records share a request,
    /// nor on how many instances there are.
    void requireSplittable(JobReader options);
}
