"""Starts DJL Serving with the sample, which it answers by its own question-answering translator.

python -m whole_server.djl_serving PORT HOME WORKERS THREADS

HOME is a distribution, with its jars and the native parts of PyTorch in lib.
"""

import os
import shutil
import sys
from pathlib import Path

from whole_server import places
from whole_server.preparation import java_home

MODEL = """engine=PyTorch
option.modelName=qa
option.mapLocation=false
translatorFactory=ai.djl.huggingface.translator.QuestionAnsweringTranslatorFactory
includeTokenTypes=true
minWorkers={workers}
maxWorkers={workers}
batch_size=1
"""
SERVER = """inference_address=http://127.0.0.1:{port}
management_address=http://127.0.0.1:{port}
load_models=qa::PyTorch=file://{model}
"""


def main(port: str, home: str, workers: str, threads: str) -> None:
    directory = places.WORK / f"djl-serving-{workers}x{threads}"
    model = directory / "qa"
    model.mkdir(parents=True, exist_ok=True)
    shutil.copy(places.MODEL, model / "qa.pt")
    shutil.copy(places.TOKENIZER, model)
    (model / "serving.properties").write_text(MODEL.format(workers=workers))
    settings = directory / "config.properties"
    settings.write_text(SERVER.format(port=port, model=model))
    os.chdir(directory)
    os.environ["OMP_NUM_THREADS"] = threads
    java = str(java_home() / "bin" / "java")
    options = [f"-Dai.djl.pytorch.num_threads={threads}", "-Dai.djl.pytorch.num_interop_threads=1"]
    classes = f"{home}/classes:{home}/lib/*"
    os.execv(java, [java, *options, "-cp", classes, "ai.djl.serving.ModelServer", "-f", str(settings)])


if __name__ == "__main__":
    main(*sys.argv[1:])
