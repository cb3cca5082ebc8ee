/// The answers of objects that are not done yet, kept below a job's output so that they outlive the
/// job when it is killed.
package dev.berth.transform.checkpoint;
