"""Writes TorchScript files without the source lines of the machine that made them."""

import io

import torch

# The writer adds these by itself.
WRITTEN_AT_THE_END = {"version", ".data/version", ".data/serialization_id"}


def to_bytes(module: torch.jit.ScriptModule) -> bytes:
    """The file's content. Debug records are left out: they hold paths of this machine and serve error messages only."""
    written = io.BytesIO()
    torch.jit.save(module, written)
    written.seek(0)
    reader = torch._C.PyTorchFileReader(written)
    names = reader.get_all_records()
    version = next(name for name in names if name in ("version", ".data/version"))

    stripped = io.BytesIO()
    writer = torch._C.PyTorchFileWriter(stripped)
    writer.set_min_version(int(reader.get_record(version)))
    for name in names:
        if name not in WRITTEN_AT_THE_END and not name.endswith(".debug_pkl"):
            record = reader.get_record(name)
            writer.write_record(name, record, len(record))
    writer.write_end_of_file()
    return stripped.getvalue()
