/// Parquet and Arrow for `transform`, through Apache's own libraries. Each of them reads rows as
/// JSON and writes answers as columns.
///
/// It knows the interfaces of `dev.berth.table` and nothing else of Berth. A table is used by the
/// one thread that opened it.
package dev.berth.columnar;
