/// Arrays of numbers with a shape, as plain Java: what content types are read into, and what models take and return.
///
/// It uses nothing but the JDK. Every value here is immutable and may be shared by any threads.
package dev.berth.tensor;
