"""Makes what tools/gpu/run packs of the model: the fp16 artifact, what bf16 has besides, the questions and their answers.

Of the word embeddings only those rows keep their weights whose tokens are asked for here. They are half of the model, and
the others would not be read: answers and speed are the same, and 16 MiB do not travel.
"""

import argparse
import json
import lzma
import shutil
import subprocess
import sys
from pathlib import Path

import torch
import weights

ROOT = Path(__file__).resolve().parents[2]
TRACE = ROOT / "trace"
QUESTIONS = ROOT / "tools/bench/questions.jsonl"
REFERENCE = ROOT / "src/test/resources/reference/question-answering.jsonl"
sys.path.insert(0, str(TRACE))

from reference import Reference, expand, read_lines  # noqa: E402

# Weights in fp16: two bytes, of which the second is alike in most. So 0.86 of them are left and not 0.90.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 1, "pb": 1}]


def trace(model: Path, precision: str, output: Path) -> None:
    command = [sys.executable, TRACE / "trace.py", f"@{TRACE / 'minilm-qa.args'}", "--model", model, "--target", "gpu"]
    subprocess.run([*command, "--precision", precision, "--output", output], check=True, stdout=sys.stderr)


def used_tokens(reference: Reference, cases: list[dict], sample: dict) -> set[int]:
    """The tokens of all that is asked, and padding."""
    used = {0}
    for case in [*cases, sample]:
        for text in (case["question"], expand(case["context"])):
            used.update(reference.tokenizer.encode(text, add_special_tokens=True).ids)
    return used


def keep_rows(records: dict[str, bytes], used: set[int], vocabulary: int, width: int) -> dict[str, bytes]:
    size = vocabulary * width * 2
    names = [name for name, content in records.items() if len(content) == size]
    if len(names) != 1:
        sys.exit(f"found {len(names)} tensors of {vocabulary} rows of {width} in fp16, expected 1: the word embeddings")
    rows = bytearray(size)
    for token in used:
        place = slice(token * width * 2, (token + 1) * width * 2)
        rows[place] = records[names[0]][place]
    return records | {names[0]: bytes(rows)}


def token_rows(reference: Reference, questions: list[dict], pair: dict) -> list[dict]:
    """The rows that the server makes of the questions: each is one window."""
    rows = []
    for case in questions:
        question = reference.tokenizer.encode(case["question"], add_special_tokens=False).ids
        context = reference.tokenizer.encode(case["context"], add_special_tokens=False).ids
        head = pair["before"] + question + pair["between"]
        tail = context + pair["after"]
        rows.append({"ids": head + tail, "types": [pair["questionType"]] * len(head) + [pair["contextType"]] * len(tail)})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    arguments = parser.parse_args()
    artifact, other = arguments.output / "model", arguments.work / "bf16"
    trace(arguments.model, "fp16", artifact)
    trace(arguments.model, "bf16", other)

    config = json.loads((arguments.model / "config.json").read_text(encoding="utf-8"))
    description = json.loads((artifact / "model.json").read_text(encoding="utf-8"))
    questions, cases = read_lines(QUESTIONS), read_lines(REFERENCE)
    reference = Reference(artifact, artifact / "model.pt")
    used = used_tokens(reference, questions + cases, json.loads((artifact / "sample.json").read_text(encoding="utf-8")))
    used.update(token for place in ("before", "between", "after") for token in description["pair"][place])

    shape = config["vocab_size"], config["hidden_size"]
    fp16 = keep_rows(weights.read(artifact / "model.pt"), used, *shape)
    bf16 = keep_rows(weights.read(other / "model.pt"), used, *shape)
    weights.write(fp16, artifact / "model.pt")
    rest = weights.skeleton(fp16, bf16)
    if weights.fill(fp16, rest) != bf16:
        sys.exit("the bf16 file can't be made of the fp16 one")
    weights.write(rest, arguments.output / "bf16-rest.zip")
    shutil.copy(other / "model.json", arguments.output / "bf16-model.json")

    # One after the other on one thread, as reference.py does, but with the file that travels.
    torch.set_num_threads(1)
    reference = Reference(artifact, artifact / "model.pt")
    with open(arguments.output / "reference.jsonl", "w", encoding="utf-8") as file:
        for case in cases:
            asked = {name: case[name] for name in ("name", "question", "context", "parameters") if name in case}
            answer = reference.answer(case["question"], expand(case["context"]), case.get("parameters", {}))
            file.write(json.dumps(asked | answer, ensure_ascii=False) + "\n")
    rows = token_rows(reference, questions, description["pair"])
    (arguments.output / "tokens.json").write_text(json.dumps(rows), encoding="utf-8")
    shutil.copy(QUESTIONS, arguments.output)

    file = artifact / "model.pt"
    (artifact / "model.pt.xz").write_bytes(lzma.compress(file.read_bytes(), filters=FILTERS))
    file.unlink()
    print(f"{len(used)} of {config['vocab_size']} tokens are asked for", file=sys.stderr)


if __name__ == "__main__":
    main()
