"""Starts MLServer with an ONNX file of a table.

python -m whole_server.mlserver PORT ENVIRONMENT FILE WORKERS

ENVIRONMENT is a virtual environment with mlserver and onnxruntime: MLServer pins versions that the other peers do not have.
With 0 workers, it computes in the process that answers HTTP.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from whole_server import places
from whole_server.process import free_port

RUNTIME = "mlserver_runtime"


def main(port: str, environment: str, file: str, workers: str) -> None:
    directory = places.WORK / f"mlserver-{workers}"
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copy(places.BENCH / "whole_server" / f"{RUNTIME}.py", directory)
    settings = {
        "debug": False,
        "host": "127.0.0.1",
        "http_port": int(port),
        "grpc_port": free_port(),
        "metrics_port": free_port(),
        "parallel_workers": int(workers),
    }
    model = {"name": "model", "implementation": f"{RUNTIME}.OnnxTable", "parameters": {"uri": file}}
    (directory / "settings.json").write_text(json.dumps(settings))
    (directory / "model-settings.json").write_text(json.dumps(model))
    os.chdir(directory)
    command = str(Path(environment, "bin", "mlserver"))
    os.execv(command, [command, "start", "."])


if __name__ == "__main__":
    main(*sys.argv[1:])
