"""The servers that are compared."""

import sys
from importlib.metadata import version
from pathlib import Path

from whole_server import places
from whole_server.options import Options
from whole_server.preparation import java_home
from whole_server.process import Server

BERTH = "berth"
BERTH_ONNX = "berth-onnx"
PUBLISHED = "fastapi-published"
TUNED = "fastapi-tuned"
TUNED_PROCESSES = "fastapi-tuned-processes"
ONNX = "fastapi-onnx"
ONNX_PROCESSES = "fastapi-onnx-processes"
DJL_SERVING = "djl-serving"
DJL_SERVING_WORKERS = "djl-serving-workers"
TORCHSERVE = "torchserve"
BARE = "bare"
PEAK = "peak"
NOTHING = "berth-nothing"
JAVALIN = "javalin-constant"


def labels(cores: int) -> dict[str, str]:
    """What the servers are called in tables and plots. The versions are those that run."""
    torch, onnx = f"torch {version('torch')}", f"ONNX Runtime {version('onnxruntime')}"
    return {
        BERTH: "Berth",
        BERTH_ONNX: "Berth, the sample in ONNX",
        PUBLISHED: "FastAPI as published, fp32, padded to 512",
        TUNED: f"FastAPI, {torch}, Berth's TorchScript file, 1 process × {cores} threads",
        TUNED_PROCESSES: f"FastAPI, {torch}, Berth's TorchScript file, {cores} processes × 1 thread",
        ONNX: f"FastAPI, {onnx}, Berth's ONNX file, 1 process × {cores} threads",
        ONNX_PROCESSES: f"FastAPI, {onnx}, Berth's ONNX file, {cores} processes × 1 thread",
        DJL_SERVING: f"DJL Serving, one worker of {cores} threads",
        DJL_SERVING_WORKERS: f"DJL Serving, {cores} workers of one thread",
        TORCHSERVE: f"TorchServe, {torch}, {cores} workers of one thread",
        BARE: "the bare model in a loop",
        PEAK: "multiplications at the peak of all cores",
        NOTHING: "Berth, hooks that do nothing",
        JAVALIN: "bare Javalin, a constant",
    }


def berth(name: str = BERTH, **environment: str) -> Server:
    return Server(name, [str(places.SERVE)], berth_environment() | environment)


def compared(options: Options) -> list[Server]:
    """Berth and its peers."""
    in_onnx = berth(BERTH_ONNX, BERTH_MODEL_DIR=str(places.ONNX_ARTIFACT))
    servers = [berth(), in_onnx, tuned(TUNED, 1, options.cores), tuned(TUNED_PROCESSES, options.cores, 1)]
    servers += [onnx(ONNX, 1, options.cores), onnx(ONNX_PROCESSES, options.cores, 1)]
    servers.append(module(TORCHSERVE, "torchserve", options.cores))
    if options.model:
        servers.append(fastapi(PUBLISHED, 1, places.PUBLISHED_MODEL, options.cores, padded=True))
    if options.djl_serving:
        servers.append(djl_serving(DJL_SERVING, options.djl_serving, 1, options.cores))
        servers.append(djl_serving(DJL_SERVING_WORKERS, options.djl_serving, options.cores, 1))
    return servers


def without_model() -> list[Server]:
    """What a request costs where there is nothing to compute."""
    java = str(java_home() / "bin" / "java")
    return [
        Server(NOTHING, [str(places.SERVE)], berth_environment() | {"BERTH_MODEL_DIR": str(places.NOTHING)}),
        Server(JAVALIN, [java, "-cp", f"{places.CLASSES}:{places.JAR}", "dev.berth.bench.ConstantServer", "{port}"]),
    ]


def berth_environment() -> dict[str, str]:
    return {"SAGEMAKER_BIND_TO_PORT": "{port}", "SAGEMAKER_CONTAINER_LOG_LEVEL": "WARN"}


def module(name: str, module: str, *arguments: object, **environment: str) -> Server:
    """A server that a module of this package starts, which takes the port first."""
    command = [sys.executable, "-m", f"whole_server.{module}", "{port}", *map(str, arguments)]
    return Server(name, command, environment)


def djl_serving(name: str, home: Path, workers: int, threads: int) -> Server:
    return module(name, "djl_serving", home, workers, threads)


def tuned(name: str, processes: int, threads: int) -> Server:
    return fastapi(name, processes, places.MODEL, threads, padded=False)


def onnx(name: str, processes: int, threads: int) -> Server:
    return fastapi(name, processes, places.ONNX_ARTIFACT / "model.onnx", threads, padded=False, engine="onnx")


def fastapi(
    name: str, processes: int, model: Path, threads: int, padded: bool, engine: str = "torch"
) -> Server:
    return module(
        name,
        "serve_peer",
        processes,
        PEER_APP="whole_server.peer:app",
        PEER_ENGINE=engine,
        PEER_MODEL=str(model),
        PEER_TOKENIZER=str(places.TOKENIZER),
        PEER_THREADS=str(threads),
        PEER_PADDED=str(padded).lower(),
        TOKENIZERS_PARALLELISM="false",
    )
