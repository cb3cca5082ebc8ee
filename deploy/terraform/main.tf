# A real-time endpoint that Berth serves, with its scaling and alarms: deploy/sagemaker/template.yaml for Terraform. The role must be there.
#
#   module "berth" {
#     source     = "./deploy/terraform"
#     name       = "berth-terraform"
#     image      = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/berth:cpu"
#     model_data = "s3://my-bucket/berth/model.tar.gz"
#     role_arn   = "arn:aws:iam::123456789012:role/my-sagemaker-role"
#   }
terraform {
  required_version = ">= 1.9" # one validation compares two variables
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100"
    }
  }
}

locals {
  variant    = "main"
  scaled     = var.max_instances > var.min_instances
  dimensions = { EndpointName = aws_sagemaker_endpoint.this.name, VariantName = local.variant }
}

# Model and configuration can't be changed, so a change makes new ones. The endpoint moves to them before the old ones go.
resource "aws_sagemaker_model" "this" {
  execution_role_arn       = var.role_arn
  enable_network_isolation = var.network_isolation
  tags                     = var.tags

  primary_container {
    image          = var.image
    model_data_url = var.model_data
    # The variable unset, it is 60 s at an endpoint, and an hour in a batch transform job.
    environment = merge(
      { BERTH_LOG_FORMAT = "json" },
      { for seconds in [var.timeout_seconds] : "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS" => tostring(seconds) if seconds != 60 },
      var.environment
    )
  }

  dynamic "vpc_config" {
    for_each = var.vpc == null ? [] : [var.vpc]
    content {
      subnets            = vpc_config.value.subnets
      security_group_ids = vpc_config.value.security_groups
    }
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_sagemaker_endpoint_configuration" "this" {
  name_prefix = "${var.name}-"
  tags        = var.tags

  production_variants {
    variant_name                                      = local.variant
    model_name                                        = aws_sagemaker_model.this.name
    instance_type                                     = var.instance_type
    initial_instance_count                            = var.min_instances
    initial_variant_weight                            = 1
    inference_ami_version                             = var.inference_ami_version
    container_startup_health_check_timeout_in_seconds = 600

    routing_config {
      routing_strategy = "LEAST_OUTSTANDING_REQUESTS"
    }
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_sagemaker_endpoint" "this" {
  name                 = var.name
  endpoint_config_name = aws_sagemaker_endpoint_configuration.this.name
  tags                 = var.tags
}

resource "aws_appautoscaling_target" "this" {
  count              = local.scaled ? 1 : 0
  service_namespace  = "sagemaker"
  scalable_dimension = "sagemaker:variant:DesiredInstanceCount"
  resource_id        = "endpoint/${aws_sagemaker_endpoint.this.name}/variant/${local.variant}"
  min_capacity       = var.min_instances
  max_capacity       = var.max_instances
}

resource "aws_appautoscaling_policy" "this" {
  count              = local.scaled ? 1 : 0
  name               = "${var.name}-load"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.this[0].service_namespace
  scalable_dimension = aws_appautoscaling_target.this[0].scalable_dimension
  resource_id        = aws_appautoscaling_target.this[0].resource_id

  target_tracking_scaling_policy_configuration {
    target_value       = var.target_per_instance
    scale_out_cooldown = 60
    scale_in_cooldown  = 300
    # Requests inside an instance, at a resolution of 10 s. It counts those that wait, which CPU or invocations would not.
    predefined_metric_specification {
      predefined_metric_type = "SageMakerVariantConcurrentRequestsPerModelHighResolution"
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "errors" {
  alarm_name          = "${var.name}-errors"
  alarm_description   = "More than 1 % of the requests were answered with 5xx for 3 of 5 minutes"
  namespace           = "AWS/SageMaker"
  metric_name         = "Invocation5XXErrors"
  dimensions          = local.dimensions
  statistic           = "Average" # SageMaker reports 0 or 1 for each request
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0.01
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = var.tags
}

resource "aws_cloudwatch_metric_alarm" "latency" {
  alarm_name          = "${var.name}-latency"
  alarm_description   = "The p99 of the time in the container was above latency_alarm_ms for 3 of 5 minutes"
  namespace           = "AWS/SageMaker"
  metric_name         = "ModelLatency"
  dimensions          = local.dimensions
  extended_statistic  = "p99"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = var.latency_alarm_ms * 1000 # SageMaker reports microseconds
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = var.tags
}

# SageMaker has no metric of healthy instances. Each instance with a container that runs reports its CPU every minute.
resource "aws_cloudwatch_metric_alarm" "no_instance" {
  alarm_name          = "${var.name}-no-instance"
  alarm_description   = "No instance has reported for 5 minutes"
  namespace           = "/aws/sagemaker/Endpoints"
  metric_name         = "CPUUtilization"
  dimensions          = local.dimensions
  statistic           = "SampleCount"
  period              = 60
  evaluation_periods  = 5
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  treat_missing_data  = "breaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
  tags                = var.tags
}
