"""Starts TorchServe with the sample, answered by the code that FastAPI runs as well.

python -m whole_server.torchserve PORT WORKERS

Each worker has one thread. They run in this virtual environment.
"""

import json
import os
import sys
import zipfile
from pathlib import Path

from whole_server import places
from whole_server.preparation import java_home
from whole_server.process import free_port

SERVER = """inference_address=http://127.0.0.1:{port}
management_address=http://127.0.0.1:{management}
metrics_address=http://127.0.0.1:{metrics}
default_workers_per_model={workers}
job_queue_size=1000
disable_system_metrics=true
model_store={directory}
load_models=qa.mar
"""
HANDLER = "torchserve_handler.py"
MANIFEST = {
    "runtime": "python",
    "model": {"modelName": "qa", "handler": HANDLER, "modelVersion": "1.0"},
    "archiverVersion": "0.12.0",
}


def main(port: str, workers: str) -> None:
    directory = places.WORK / "torchserve" / port
    directory.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(directory / "qa.mar", "w") as archive:
        archive.writestr("MAR-INF/MANIFEST.json", json.dumps(MANIFEST))
        archive.write(places.BENCH / "whole_server" / HANDLER, HANDLER)
    settings = directory / "config.properties"
    settings.write_text(
        SERVER.format(
            port=port, management=free_port(), metrics=free_port(), workers=workers, directory=directory
        )
    )
    os.chdir(directory)
    os.environ |= {
        "JAVA_HOME": str(java_home()),
        # Where it keeps the number of its process, since it refuses to run twice.
        "TMPDIR": str(directory),
        "LOG_LOCATION": str(directory / "logs"),
        "METRICS_LOCATION": str(directory / "logs"),
        "PYTHONPATH": str(places.BENCH),
        "OMP_NUM_THREADS": "1",
        "PEER_MODEL": str(places.MODEL),
        "PEER_TOKENIZER": str(places.TOKENIZER),
    }
    command = str(Path(sys.executable).with_name("torchserve"))
    os.execv(command, [command, "--start", "--foreground", "--disable-token-auth", "--ts-config", str(settings)])


if __name__ == "__main__":
    main(*sys.argv[1:])
