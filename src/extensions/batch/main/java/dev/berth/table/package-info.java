/// Tables in a file: Parquet and Arrow. Only the interfaces stand here, and what finds the jar that
/// implements them.
///
/// The jar is loaded by a loader of its own, when a job asks for such a content type. A server
/// never loads it. The package knows nothing of jobs and containers. A table is used by the one
/// thread that opened it.
package dev.berth.table;
