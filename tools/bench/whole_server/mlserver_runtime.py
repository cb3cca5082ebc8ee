"""The model that MLServer loads: an ONNX file of a table. It runs in MLServer's environment."""

import numpy
import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse
from mlserver.utils import get_model_uri


class OnnxTable(MLModel):
    async def load(self) -> bool:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        file = await get_model_uri(self.settings)
        self.session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self.column = self.session.get_inputs()[0].name
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        rows = NumpyCodec.decode_input(payload.inputs[0]).astype(numpy.float32, copy=False)
        [predictions] = self.session.run(None, {self.column: rows})
        return InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output("output", predictions)])
