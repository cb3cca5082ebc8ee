/// Prints metrics in CloudWatch's Embedded Metric Format, for platforms that read stdout but no
/// metrics path.
///
/// It reads the instruments as everybody else does and counts nothing itself. It knows nothing of
/// CloudWatch but the format.
package dev.berth.telemetry.emf;
