"""Makes the model of a task in the layout that trace/trace.py reads, of random weights, and artifacts of it.

python -m whole_server.make_task TASK SIZE PRECISION TOKENIZER DIRECTORY

DIRECTORY/model is the model of Hugging Face. DIRECTORY/artifact and DIRECTORY/onnx are what Berth serves. Random weights are as fast as
any. The answers mean nothing, so the tracer is not to compare precisions.
"""

import json
import subprocess
import sys
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer

from whole_server import places

TRACE = places.HOME / "trace" / "trace.py"
FORMATS = {"artifact": "torchscript", "onnx": "onnx"}
SIZES = {
    "minilm": {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536},
    "base": {},
}
LOADERS = {
    "text-classification": "BertForSequenceClassification",
    "token-classification": "BertForTokenClassification",
    "fill-mask": "BertForMaskedLM",
    "sentence-embeddings": "BertModel",
    "sparse-embeddings": "BertForMaskedLM",
    "question-answering": "BertForQuestionAnswering",
}
LABELS = {
    "text-classification": ["negative", "positive"],
    "token-classification": ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC"],
}
# Large enough that the best answer stands out from the next, which rounding must not exchange.
SPREAD = 0.06
TOKENS = {name: f"[{name[:-6].upper()}]" for name in ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")}
MODULES = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
# A trained model has some hundred weights above 0 for a passage.
LEAST_LOGIT = 3.2


def save(task: str, size: str, tokenizer_file: str, directory: Path) -> None:
    torch.manual_seed(7)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_file(tokenizer_file), model_max_length=512,
        model_input_names=["input_ids", "attention_mask", "token_type_ids"], **TOKENS,
    )  # fmt: skip
    labels = dict(enumerate(LABELS.get(task, [])))
    more = {"id2label": labels, "label2id": {name: number for number, name in labels.items()}} if labels else {}
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), pad_token_id=0, initializer_range=SPREAD, **SIZES[size], **more
    )
    model = getattr(transformers, LOADERS[task])(config)
    if task == "sparse-embeddings":
        model.cls.predictions.bias.data.fill_(-LEAST_LOGIT)
        save_sparse_modules(directory)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    if task == "sentence-embeddings":
        save_modules(directory, config.hidden_size)


def save_modules(directory: Path, width: int) -> None:
    """The files of sentence-transformers: the mean of the tokens, scaled to length 1."""
    listed = []
    for index, (path, name) in enumerate(MODULES):
        (directory / path).mkdir(exist_ok=True)
        listed.append({"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{name}"})
    write(directory / "modules.json", listed)
    write(directory / "1_Pooling" / "config.json", {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True})
    write(directory / "2_Normalize" / "config.json", {})
    write(directory / "sentence_bert_config.json", {"max_seq_length": 512, "do_lower_case": False})


def save_sparse_modules(directory: Path) -> None:
    (directory / "1_SpladePooling").mkdir()
    types = [("", "MLMTransformer"), ("1_SpladePooling", "SpladePooling")]
    listed = [
        {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.sparse_encoder.models.{name}"}
        for index, (path, name) in enumerate(types)
    ]
    write(directory / "modules.json", listed)
    write(directory / "config_sentence_transformers.json", {"model_type": "SparseEncoder"})
    write(directory / "1_SpladePooling" / "config.json", {"pooling_strategy": "max", "activation_function": "relu"})
    write(directory / "sentence_bert_config.json", {"max_seq_length": 512, "do_lower_case": False})


def write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value), encoding="utf-8")


def main(task: str, size: str, precision: str, tokenizer: str, directory: str) -> None:
    save(task, size, tokenizer, Path(directory) / "model")
    options = ["--model", f"{directory}/model", "--task", task, "--precision", precision, "--min-agreement", "0"]
    for name, format in FORMATS.items():
        artifact = Path(directory, name)
        traced = subprocess.run([sys.executable, str(TRACE), *options, "--format", format, "--output", str(artifact)])
        if traced.returncode:
            sys.exit(traced.returncode)
        for sample in artifact.glob("sample*.json"):
            # Of random weights the best answers are nearly equal. Another engine may exchange them, and Berth would not start.
            sample.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
