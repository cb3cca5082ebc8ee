/// Model artifacts in the executors of Apache Spark. Knows how rows become requests and answers
/// become columns; what loads an artifact and runs its hooks is `dev.berth.inprocess.InProcessModel`.
/// Rows are read on the threads of Spark's tasks, and virtual threads wait for the model.
package dev.berth.spark;
