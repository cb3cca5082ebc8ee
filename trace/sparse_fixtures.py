"""Makes the tiny artifacts of the Java tests for sparse embeddings, with what sentence-transformers answers.

    python trace/sparse_fixtures.py --output src/extensions/search/test/resources

`sparse-embeddings-bert` is in TorchScript and has a table for queries. `sparse-embeddings-bert-onnx` is the same model in
ONNX, without that. sparse-embeddings.json has texts with their weights, as documents by either and as queries by the table.
sentence-transformers must be installed.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import asking
import task_models
import trace as tracer
from task_fixtures import LONG, ODD, SHORT, TOO_LONG

TASK = "sparse-embeddings"
WORDS = 200

TEXTS = [SHORT, LONG, f"{LONG} {TOO_LONG}", "The lamp, the lamp, the LAMP and the letter", ODD[2], ""]


def answers(directory: Path) -> list[dict]:
    from sentence_transformers import SparseEncoder

    model = SparseEncoder(str(directory), device="cpu")
    documents, queries = (
        [dict(weights) for weights in model.decode(encode(TEXTS))]
        for encode in (model.encode_document, model.encode_query)
    )
    return [
        {"text": text, "document": asking.rounded(document), "query": asking.rounded(query)}
        for text, document, query in zip(TEXTS, documents, queries, strict=True)
    ]


def make(model: Path, output: Path, *more: str) -> None:
    sys.argv = ["trace.py", "--model", str(model), "--output", str(output), "--precision", "fp32", *more]
    tracer.main()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the artifacts of the Java tests for sparse embeddings.")
    parser.add_argument("--output", required=True, type=Path, help="the directory of the resources")
    output = parser.parse_args().output
    with tempfile.TemporaryDirectory() as temporary:
        directory = task_models.save(TASK, "bert", Path(temporary) / "tiny-bert", vocabulary=WORDS)
        make(directory, output / f"{TASK}-bert-onnx", "--format", "onnx")
        task_models.save_splade(directory, table=True)
        make(directory, output / f"{TASK}-bert")
        text = json.dumps(answers(directory), ensure_ascii=False, indent=1)
        (output / f"{TASK}.json").write_text(text + "\n", encoding="utf-8")
