output "endpoint_name" {
  value = aws_sagemaker_endpoint.this.name
}

output "endpoint_arn" {
  value = aws_sagemaker_endpoint.this.arn
}

output "model_name" {
  description = "For batch transform jobs"
  value       = aws_sagemaker_model.this.name
}
