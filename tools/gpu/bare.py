"""The bare model in Python: rows/s at each batch size, for batches of like length and of questions as they come.

python bare.py MODEL TOKENS DEVICE SECONDS SIZE...

Rows are tokenised beforehand. Each batch is padded to its longest row and copied to the device, and its logits are copied
back. Prints JSON: of each size the rows/s and the seconds of one batch.
"""

import json
import sys
import time
from pathlib import Path

import torch


def batches(rows: list[dict], size: int, of_like_length: bool) -> list[tuple[torch.Tensor, ...]]:
    # As often as fills the largest batches.
    rows = rows * max(1, -(-4 * size // len(rows)))
    if of_like_length:
        rows.sort(key=lambda row: len(row["ids"]))
    return [padded(rows[first : first + size]) for first in range(0, len(rows) - size + 1, size)]


def padded(rows: list[dict]) -> tuple[torch.Tensor, ...]:
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row["ids"]) for row in rows], batch_first=True)
    types = torch.nn.utils.rnn.pad_sequence([torch.tensor(row["types"]) for row in rows], batch_first=True)
    mask = torch.nn.utils.rnn.pad_sequence([torch.ones(len(row["ids"]), dtype=torch.long) for row in rows], batch_first=True)
    return ids, mask, types


def measure(model: torch.jit.ScriptModule, some: list[tuple[torch.Tensor, ...]], device: str, seconds: float) -> float:
    """Rows/s."""
    rows, number = 0, 0
    begin = time.perf_counter()
    while (now := time.perf_counter()) < begin + seconds:
        batch = some[number % len(some)]
        for logits in model(*(tensor.to(device) for tensor in batch)):
            logits.cpu()
        rows += len(batch[0])
        number += 1
    return rows / (now - begin)


def main(model_file: str, tokens: str, kind: str, seconds: float, sizes: list[int]) -> None:
    device = "cuda" if kind == "gpu" else "cpu"
    model = torch.jit.load(model_file, map_location=device).eval()
    rows = json.loads(Path(tokens).read_text(encoding="utf-8"))
    found = []
    with torch.inference_mode():
        for size in sizes:
            result = {"batch": size}
            for name, of_like_length in (("like length", True), ("as they come", False)):
                some = batches(rows, size, of_like_length)
                # Each shape once: kernels are chosen, and the allocator grows.
                measure(model, some, device, seconds / 2)
                result[name] = measure(model, some, device, seconds)
            found.append(result)
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), [int(size) for size in sys.argv[5:]])
