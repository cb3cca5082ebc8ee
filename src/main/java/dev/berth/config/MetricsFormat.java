package dev.berth.config;

/// Where metrics go besides the path of the metrics.
public enum MetricsFormat {
  /// Nowhere.
  PROMETHEUS,
  /// To stdout, in CloudWatch's Embedded Metric Format.
  EMF
}
