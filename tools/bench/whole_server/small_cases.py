"""What the section small asks: models of tables and a small one of pictures, and the forms of their requests."""

from dataclasses import dataclass
from pathlib import Path

from whole_server import places

DIRECTORY = places.WORK / "small"
BODIES = DIRECTORY / "bodies"
# Written last.
DONE = DIRECTORY / "done"
# Columns of the tables. 370 rows are 105 KB of JSON.
COLUMNS = 30
ROWS = {"1 row": 1, "370 rows": 370}
JSON, CSV, V2 = "JSON", "CSV", "v2 JSON"


@dataclass(frozen=True)
class Form:
    """Requests of one kind: the bodies are the files of a directory. Those of one size have the same rows."""

    size: str
    format: str
    content_type: str
    path: str = "/invocations"

    @property
    def name(self) -> str:
        return f"{self.size}, {self.format}"

    @property
    def is_v2(self) -> bool:
        """Whether it is one of the Open Inference Protocol."""
        return self.path != "/invocations"

    @property
    def bodies(self) -> Path:
        return BODIES / self.name.replace(", ", "-").replace(" ", "-")


@dataclass(frozen=True)
class Case:
    """A model, what it is asked, and the module that serves it with FastAPI."""

    name: str
    artifact: Path
    file: str
    peer: str
    forms: list[Form]

    @property
    def model(self) -> Path:
        return self.artifact / self.file


def table_form(rows: str, form: str) -> Form:
    content_type = "text/csv" if form == CSV else "application/json"
    return Form(rows, form, content_type, "/v2/models/model/infer" if form == V2 else "/invocations")


DENSE = Case(
    "dense net, 30 → 64 → 1",
    DIRECTORY / "dense",
    "model.onnx",
    "table_peer",
    [table_form(rows, form) for form in (JSON, CSV, V2) for rows in ROWS],
)
TREES = Case("100 trees", DIRECTORY / "trees", "model.onnx", "table_peer", [table_form(rows, JSON) for rows in ROWS])
PICTURES = Case(
    "ResNet of 32 channels",
    DIRECTORY / "pictures" / "artifact",
    "model.pt",
    "picture_peer",
    [Form("100 KB", "JPEG", "image/jpeg")],
)
CASES = [DENSE, TREES, PICTURES]
