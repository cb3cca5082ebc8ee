"""Scripts what `train.py` has trained into what is served, `model.pt`, and writes `expected.json`, to test a server with.

    pip install torch tokenizers numpy
    python examples/text-generation/make.py TRAINED examples/text-generation

The code is scripted and not traced, because it loops over the texts of a step.
"""

import argparse
import io
import json
import shutil
import sys
import warnings
import zipfile
from pathlib import Path

import torch

import loop
from decoder import Decoder

sys.path.append(str(Path(__file__).resolve().parents[2] / "trace"))
import torchscript

LARGEST_DIFFERENCE = 1e-4
# Where a choice was nearer than this, another CPU may choose another token. Such a seed, or prompt, is not taken. Logits
# differ by some 4e-6, and so do the probabilities' sums.
LEAST_MARGIN = 2e-5

CHATS = [
    ["What is the capital of France?"],
    ["My name is Clara.", "Count from 3 to 9.", "What is my name?"],
    ["Say hello in Japanese."],
    ["Smile, please."],
    ["What does a cow say?"],
]
PROMPTS = ["In the beginning", "And Moses said", "Blessed are they", "The LORD is my"]
SAMPLINGS = [
    {"temperature": 1.0},
    {"temperature": 0.8, "top_k": 40},
    {"temperature": 1.2, "top_p": 0.9},
    {"temperature": 0.7, "top_k": 100, "top_p": 0.8},
]
MOST = 32


def main() -> None:
    parser = argparse.ArgumentParser(description="Script a small language model.")
    parser.add_argument("trained", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in ("text.json", "tokenizer.json"):
        shutil.copyfile(arguments.trained / name, arguments.output / name)
    language = loop.Language(arguments.output)
    shape = {name: language.shape[name] for name in ("vocabulary", "width", "layers", "heads", "context")}
    model = Decoder(**shape)
    model.load_state_dict(torch.load(arguments.trained / "weights.pt"))
    path = arguments.output / "model.pt"
    path.write_bytes(deflated(scripted(model.eval().requires_grad_(False))))
    served = torch.jit.load(path)
    difference = largest_difference(model, served, language)
    if not difference <= LARGEST_DIFFERENCE:
        raise SystemExit(f"{path}: differs by {difference:.2g} from the model as it was trained")
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB, within {difference:.1g} of the model as it was trained")

    references = list(greedy(served, language)) + list(sampled(served, language))
    (arguments.output / "expected.json").write_text(
        json.dumps(references, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    for reference in references:
        print(repr(reference["text"]))


def scripted(model: Decoder) -> bytes:
    # Scripting is deprecated in torch, but nothing else makes a file that libtorch 2.7 reads.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    script = torch.jit.freeze(torch.jit.script(model))
    if torchscript.names_a_device(script):
        raise SystemExit("the model names a device: it would fail on any other one")
    return torchscript.to_bytes(script)


def deflated(file: bytes) -> bytes:
    """The same records, deflated: a seventh less to keep in the repository. libtorch reads such records too."""
    smaller = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(file)) as stored, zipfile.ZipFile(smaller, "w") as archive:
        for name in stored.namelist():
            archive.writestr(zipfile.ZipInfo(name), stored.read(name), zipfile.ZIP_DEFLATED, 9)
    return smaller.getvalue()


@torch.inference_mode()
def largest_difference(model: Decoder, served: torch.jit.ScriptModule, language: loop.Language) -> float:
    """Of texts that are read in pieces, several at a time, from what the whole of each gives."""
    torch.manual_seed(0)
    lengths = [1, 40, 130, 300]
    texts = [torch.randint(language.end, (length,)) for length in lengths]
    caches = [language.empty_cache() for _ in texts]
    read, largest = [0] * len(texts), 0.0
    while any(read[i] < lengths[i] for i in range(len(texts))):
        open_ones = [i for i in range(len(texts)) if read[i] < lengths[i]]
        # Pieces of 1, 32 and 63 tokens.
        pieces = [texts[i][read[i] : read[i] + 1 + read[i] % 32 * 31 % 63] for i in open_ones]
        counts = torch.tensor([[len(piece), read[i]] for i, piece in zip(open_ones, pieces)])
        logits, written = served(torch.cat(pieces), counts, [caches[i] for i in open_ones])
        for place, i in enumerate(open_ones):
            read[i] += len(pieces[place])
            caches[i] = written[place]
            whole = model.learn(texts[i][None, : read[i]])[0, -1]
            largest = max(largest, (logits[place] - whole).abs().max().item())
    return largest


def greedy(model: torch.jit.ScriptModule, language: loop.Language):
    for body, prompt in prompts(language):
        yield reference(model, language, body, prompt, {}) or unsure(body)


def sampled(model: torch.jit.ScriptModule, language: loop.Language):
    for number, (body, prompt) in enumerate(prompts(language)):
        settings = SAMPLINGS[number % len(SAMPLINGS)]
        tried = (reference(model, language, body, prompt, settings | {"seed": seed}) for seed in range(1, 100))
        yield next(filter(None, tried), None) or unsure(body)


def unsure(body: dict):
    raise SystemExit(f"{body}: two tokens were too near to each other; take another prompt")


def prompts(language: loop.Language):
    for questions in CHATS:
        messages = [{"role": "user", "content": questions[0]}]
        for question in questions[1:]:
            messages += [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": question}]
        yield {"messages": messages}, language.chat(messages)
    for prompt in PROMPTS:
        yield {"prompt": prompt}, language.ids(prompt)


def reference(model, language: loop.Language, body: dict, prompt: list[int], settings: dict) -> dict | None:
    sampler = loop.Sampler(loop.Sampling(**settings))
    ids = loop.write(model, language, prompt, sampler, MOST)
    if sampler.margin < LEAST_MARGIN:
        return None
    return {"body": body | settings | {"max_tokens": MOST}, "prompt": prompt, "ids": ids, "text": language.text(ids)}


if __name__ == "__main__":
    main()
