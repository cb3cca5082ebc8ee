"""FastAPI with an ONNX file of a table, tuned by hand: PEER_MODEL, PEER_THREADS.

orjson reads and writes JSON, and CSV too, which is quicker than NumPy's own readers. The body is not checked by pydantic.
"""

import os

import numpy
import onnxruntime
import orjson
from fastapi import FastAPI, Request, Response

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(os.environ["PEER_THREADS"])
options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(os.environ["PEER_MODEL"], options, providers=["CPUExecutionProvider"])
NAME = session.get_inputs()[0].name
COLUMNS = session.get_inputs()[0].shape[1]

app = FastAPI()


@app.get("/ping")
async def ping() -> None:
    pass


@app.post("/invocations")
async def invocations(request: Request) -> Response:
    body = await request.body()
    csv = request.headers["content-type"] == "text/csv"
    rows = numbers(body) if csv else numpy.array(orjson.loads(body)["instances"], dtype=numpy.float32)
    [predictions] = session.run(None, {NAME: rows})
    answer = predictions if csv else {"predictions": predictions}
    return Response(orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


def numbers(csv: bytes) -> numpy.ndarray:
    values = orjson.loads(b"[%b]" % csv.strip().replace(b"\n", b","))
    return numpy.array(values, dtype=numpy.float32).reshape(-1, COLUMNS)
