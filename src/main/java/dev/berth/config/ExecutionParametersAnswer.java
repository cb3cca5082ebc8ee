package dev.berth.config;

/// What `GET /execution-parameters` answers.
public enum ExecutionParametersAnswer {
  /// `MULTI_RECORD`: what the platform documents.
  SAGEMAKER,
  /// `MultiRecord`: the only spelling that local mode of the SageMaker Python SDK understands.
  LOCAL_MODE,
  /// 404: the job's own values, or the platform's defaults, count.
  OFF
}
