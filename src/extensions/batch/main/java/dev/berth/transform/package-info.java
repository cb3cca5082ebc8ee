/// Runs a batch-transform job: reads the objects of a job, sends their records to a container over
/// HTTP and writes the answers, as SageMaker's platform does it.
///
/// ```
/// object ─RecordReader─▶ records ─MiniBatches─▶ payloads ──container──▶ answers ─RecordProcessing─▶ output
///                           └────InputFilter────┘                             JoinSource, OutputFilter
/// ```
///
/// A table's rows become lines of JSON first ([TableObject]), and a table is made of the answers
/// when all are there.
///
/// It must not know how the container works, and imports nothing of the server. Settings are
/// immutable and may be used by any threads; what reads an object belongs to one thread.
package dev.berth.transform;
