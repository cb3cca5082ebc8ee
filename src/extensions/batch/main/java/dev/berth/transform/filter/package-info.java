/// The JSONPath of `DataProcessing`: what of a record is sent, and what of its answer is kept. A
/// filter is immutable, and may be used by any threads.
package dev.berth.transform.filter;
