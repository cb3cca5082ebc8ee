variable "name" {
  description = "The endpoint's name; the configuration begins with it"
  type        = string
  validation {
    condition     = can(regex("^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,39}$", var.name))
    error_message = "name: expected letters, digits and single hyphens, 40 at most, since a suffix is added."
  }
}

variable "image" {
  description = "Berth's image in ECR, with its registry and tag or digest"
  type        = string
  validation {
    condition     = can(regex("^[0-9]{12}\\.dkr\\.ecr\\.[a-z0-9-]+\\.amazonaws\\.com(\\.cn)?/.+(:[A-Za-z0-9._-]+|@sha256:[0-9a-f]{64})$", var.image))
    error_message = "image: expected ACCOUNT.dkr.ecr.REGION.amazonaws.com/REPOSITORY:TAG, because SageMaker reads images from ECR."
  }
}

variable "model_data" {
  description = "model.tar.gz in S3"
  type        = string
  validation {
    condition     = can(regex("^s3://[^/]+/.+\\.tar\\.gz$", var.model_data))
    error_message = "model_data: expected s3://BUCKET/KEY.tar.gz."
  }
}

variable "role_arn" {
  description = "A role that SageMaker may assume, which reads the image and the artifact and writes the log of this endpoint; copy its policies from deploy/sagemaker/template.yaml, whose own role goes with its stack"
  type        = string
  validation {
    condition     = can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$", var.role_arn))
    error_message = "role_arn: expected the ARN of a role, arn:aws:iam::ACCOUNT:role/NAME."
  }
}

variable "environment" {
  description = "Variables of the container, such as BERTH_WORKERS"
  type        = map(string)
  default     = {}
  validation {
    condition     = length(var.environment) <= 98
    error_message = "environment: SageMaker takes 100 variables, and the module sets 2."
  }
}

variable "timeout_seconds" {
  description = "How long a request may take"
  type        = number
  default     = 60
  validation {
    condition     = var.timeout_seconds >= 1 && var.timeout_seconds <= 60
    error_message = "timeout_seconds: expected 1 to 60, because SageMaker waits no longer for a real-time answer."
  }
}

variable "instance_type" {
  type    = string
  default = "ml.c5.large"
  validation {
    condition     = startswith(var.instance_type, "ml.")
    error_message = "instance_type: expected a type of SageMaker, such as ml.c5.large."
  }
}

variable "inference_ami_version" {
  description = "The driver for a GPU, such as al2023-ami-sagemaker-inference-gpu-4-1; see docs/deploy.md"
  type        = string
  default     = null
}

variable "min_instances" {
  type    = number
  default = 1
  validation {
    condition     = var.min_instances >= 1
    error_message = "min_instances: expected at least 1; only asynchronous endpoints have 0."
  }
}

variable "max_instances" {
  description = "More than min_instances for autoscaling"
  type        = number
  default     = 1
  validation {
    condition     = var.max_instances >= var.min_instances
    error_message = "max_instances: expected at least min_instances."
  }
}

variable "target_per_instance" {
  description = "Autoscaling holds this many concurrent requests for each instance"
  type        = number
  default     = 4
  validation {
    condition     = var.target_per_instance > 0
    error_message = "target_per_instance: expected more than 0."
  }
}

variable "network_isolation" {
  description = "Containers reach nothing outside; false for hooks that call others"
  type        = bool
  default     = true
}

variable "vpc" {
  description = "Subnets and security groups that the containers use"
  type        = object({ subnets = list(string), security_groups = list(string) })
  default     = null
  validation {
    condition     = var.vpc == null ? true : length(var.vpc.subnets) > 0 && length(var.vpc.security_groups) > 0
    error_message = "vpc: expected at least one subnet and one security group."
  }
}

variable "latency_alarm_ms" {
  description = "An alarm when the p99 of the time in the container is above this"
  type        = number
  default     = 1000
  validation {
    condition     = var.latency_alarm_ms > 0
    error_message = "latency_alarm_ms: expected more than 0."
  }
}

variable "alarm_topic_arns" {
  description = "SNS topics that alarms notify"
  type        = list(string)
  default     = []
}

variable "tags" {
  type    = map(string)
  default = {}
}
