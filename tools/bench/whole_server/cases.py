"""The models of the section tasks."""

from dataclasses import dataclass
from pathlib import Path

from whole_server import places


@dataclass(frozen=True)
class Case:
    name: str
    task: str
    size: str
    precision: str
    # Whether random weights leave the best answers nearly equal, so that int8 on another version may choose each time.
    has_near_ties: bool = False

    @property
    def directory(self) -> Path:
        return places.WORK / "tasks" / f"{self.task}-{self.size}-{self.precision}"

    @property
    def artifact(self) -> Path:
        return self.directory / "artifact"

    @property
    def onnx_artifact(self) -> Path:
        return self.directory / "onnx"

    @property
    def bodies(self) -> Path:
        return places.BODIES if self.task == "question-answering" else self.directory / "bodies.jsonl"


CASES = [
    Case("text classification, MiniLM, int8", "text-classification", "minilm", "int8"),
    Case("embeddings, MiniLM, fp32", "sentence-embeddings", "minilm", "fp32"),
    Case("token classification, MiniLM, int8", "token-classification", "minilm", "int8"),
    Case("fill-mask, MiniLM, int8", "fill-mask", "minilm", "int8"),
    Case("question answering, BERT-base (110 M), int8", "question-answering", "base", "int8", has_near_ties=True),
]
