"""Question answering with ONNX Runtime: the same tokenizer and the same search for the best span."""

from pathlib import Path

import numpy
import onnxruntime

from whole_server.answering import Answerer


class OnnxAnswerer(Answerer):
    """A model in an ONNX file that takes what the traced one takes."""

    def load(self, model: Path, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.names = [one.name for one in self.session.get_inputs()]

    def forward(self, rows: list[list[int]]) -> tuple[numpy.ndarray, numpy.ndarray]:
        tensors = {name: numpy.array([row]) for name, row in zip(self.names, rows, strict=True)}
        start, end = self.session.run(None, tensors)
        return start[0], end[0]
