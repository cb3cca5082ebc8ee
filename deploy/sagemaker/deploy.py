"""Makes or updates a SageMaker endpoint of Berth, and waits for it. The same command again changes nothing."""
import argparse
import hashlib
import json
import sys

import boto3
from botocore.exceptions import BotoCoreError, ClientError


def variable(text: str) -> list[str]:
    name, value = text.split("=", 1)
    return [name, value]


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
parser.add_argument("name", help="of the endpoint")
parser.add_argument("--image", required=True, help="the image in ECR")
parser.add_argument("--artifact", required=True, help="s3:// of model.tar.gz; answers of async go beside it")
parser.add_argument("--role", required=True, help="ARN of the execution role")
parser.add_argument("--kind", choices=["real-time", "serverless", "async", "multi-model"], default="real-time")
parser.add_argument("--instance-type", default="ml.c5.large")
parser.add_argument("--instances", type=int, default=1)
parser.add_argument("--env", type=variable, action="append", default=[], metavar="NAME=VALUE", help="of the container")
parser.add_argument("--inference-ami", help="the driver for a GPU; needs a boto3 that knows InferenceAmiVersion")
parser.add_argument("--endpoint-url", help="another server than AWS")
parser.add_argument("--poll-seconds", type=int, default=30)
args = parser.parse_args()


def describe(what: str, **name: str) -> dict:
    try:
        return getattr(sagemaker, f"describe_{what}")(**name)
    except ClientError as error:
        if error.response["Error"]["Message"].startswith("Could not find"):
            return {}
        raise


def make(what: str, key: str, **content: object) -> str:  # named by its content, as SageMaker can't change it
    name = f"{args.name[:52]}-{hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:10]}"
    if not describe(what, **{key: name}):
        getattr(sagemaker, f"create_{what}")(**{key: name}, **content)
    return name


try:
    sagemaker = boto3.client("sagemaker", endpoint_url=args.endpoint_url)
    container = {"Image": args.image, "ModelDataUrl": args.artifact,
                 "Environment": {"BERTH_LOG_FORMAT": "json", **dict(args.env)},
                 "Mode": "MultiModel" if args.kind == "multi-model" else "SingleModel"}
    model = make("model", "ModelName", PrimaryContainer=container, ExecutionRoleArn=args.role)
    ami = {"InferenceAmiVersion": args.inference_ami} if args.inference_ami else {}
    instances = {"InstanceType": args.instance_type, "InitialInstanceCount": args.instances, **ami}
    serverless = {"ServerlessConfig": {"MemorySizeInMB": 3072, "MaxConcurrency": 10}}
    variant = {"VariantName": "main", "ModelName": model, **(serverless if args.kind == "serverless" else instances)}
    answers = args.artifact.rpartition("/")[0] + "/async/"
    extra = {"AsyncInferenceConfig": {"OutputConfig": {"S3OutputPath": answers}}} if args.kind == "async" else {}
    config = make("endpoint_config", "EndpointConfigName", ProductionVariants=[variant], **extra)
    if (found := describe("endpoint", EndpointName=args.name)).get("EndpointConfigName") != config:
        change = sagemaker.update_endpoint if found else sagemaker.create_endpoint
        change(EndpointName=args.name, EndpointConfigName=config)
    sagemaker.get_waiter("endpoint_in_service").wait(EndpointName=args.name, WaiterConfig={"Delay": args.poll_seconds})
    if (serving := describe("endpoint", EndpointName=args.name))["EndpointConfigName"] != config:
        sys.exit(f"deploy.py: {args.name} was rolled back: {serving.get('FailureReason', 'SageMaker gives no reason')}")
    print(f"{args.name} is in service with {config}")
except (BotoCoreError, ClientError) as error:
    sys.exit(f"deploy.py: {error} {getattr(error, 'last_response', {}).get('FailureReason', '')}".strip())
