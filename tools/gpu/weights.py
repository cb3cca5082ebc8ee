"""Records of TorchScript files, for files that hold the same weights in another precision.

A file is a zip of records: its code, and one for each tensor.
"""

import ctypes
import json
import zipfile
from pathlib import Path

import torch


def read(file: Path) -> dict[str, bytes]:
    """The records by their names, without the first folder of each, which is the name of the archive."""
    with zipfile.ZipFile(file) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def write(records: dict[str, bytes], file: Path) -> None:
    """Not compressed, as libtorch reads them."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in records.items():
            archive.writestr(f"model/{name}", content)


def bf16_of(content: bytes) -> bytes:
    rounded = torch.frombuffer(bytearray(content), dtype=torch.float16).to(torch.bfloat16)
    # Tensor.numpy() would need NumPy.
    return ctypes.string_at(rounded.data_ptr(), len(content))


def skeleton(fp16: dict[str, bytes], bf16: dict[str, bytes]) -> dict[str, bytes]:
    """What `fill` can't make of the records of the fp16 file, and which it can."""
    converted = [name for name in bf16 if is_weight(name, fp16) and bf16[name] == bf16_of(fp16[name])]
    rest = {name: content for name, content in bf16.items() if name not in converted}
    return rest | {"converted.json": json.dumps(converted).encode()}


def fill(fp16: dict[str, bytes], rest: dict[str, bytes]) -> dict[str, bytes]:
    """The records of the bf16 file."""
    converted = json.loads(rest["converted.json"])
    records = {name: content for name, content in rest.items() if name != "converted.json"}
    return records | {name: bf16_of(fp16[name]) for name in converted}


def is_weight(name: str, records: dict[str, bytes]) -> bool:
    return name.startswith("data/") and name in records and len(records[name]) % 2 == 0
