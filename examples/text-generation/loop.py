"""The plain loop: writes one text, token by token, with the model of this directory and nothing around it.

    pip install torch tokenizers
    python examples/text-generation/loop.py "What is the capital of Sweden?" --temperature 0.8 --seed 7

The server's hooks must choose the same tokens. So the few lines of `Sampler` are the same as in `code/Sampler.java`.
"""

import argparse
import bisect
import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tokenizers
import torch

MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Sampling:
    """temperature 0: always the likeliest token. top_k 0: all tokens may be chosen."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


class Sampler:
    def __init__(self, sampling: Sampling):
        self.sampling = sampling
        self.state = sampling.seed & MASK
        # How near a choice was to another one, for references: another CPU or libtorch sums in another order.
        self.margin = math.inf

    def choose(self, logits: list[float]) -> int:
        ids = sorted(range(len(logits)), key=lambda id: (-logits[id], id))
        if self.sampling.temperature == 0:
            self.margin = min(self.margin, logits[ids[0]] - logits[ids[1]])
            return ids[0]
        ids = ids[: self.sampling.top_k or len(ids)]
        top = logits[ids[0]]
        sums = list(itertools.accumulate(math.exp((logits[id] - top) / self.sampling.temperature) for id in ids))
        last = self.first_at_least(sums, self.sampling.top_p * sums[-1])
        return ids[min(last, self.first_at_least(sums, self.next() * sums[last]))]

    def first_at_least(self, sums: list[float], value: float) -> int:
        place = min(bisect.bisect_left(sums, value), len(sums) - 1)
        if value < sums[-1]:
            nearest = min(abs(value - sums[i]) for i in (place - 1, place) if i >= 0)
            self.margin = min(self.margin, nearest / sums[-1])
        return place

    def next(self) -> float:
        """SplitMix64."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = (self.state ^ self.state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
        return ((mixed ^ mixed >> 31) >> 11) * 2.0**-53


class Language:
    """Tokens and marks. The marks are no tokens of `tokenizer.json`, so no text has one."""

    def __init__(self, directory: Path):
        self.shape = json.loads((directory / "text.json").read_text())
        self.tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
        self.end = self.shape["marks"]["end"]

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text).ids

    def chat(self, messages: list[dict[str, str]]) -> list[int]:
        marks = self.shape["marks"]
        said = [[marks[each["role"]], *self.ids(each["content"]), marks["end"]] for each in messages]
        return [*itertools.chain.from_iterable(said), marks["assistant"]]

    def text(self, ids: list[int]) -> str:
        return self.tokenizer.decode([id for id in ids if id < min(self.shape["marks"].values())])

    def empty_cache(self) -> torch.Tensor:
        shape = self.shape
        return torch.zeros(shape["layers"], 2, shape["heads"], 0, shape["width"] // shape["heads"])


@torch.inference_mode()
def write(
    model: Callable, language: Language, prompt: list[int], sampler: Sampler, most: int, seen: Callable = lambda id: None
) -> list[int]:
    """The further tokens, with the mark at the end where the model has set one."""
    caches = [language.empty_cache()]
    unread, read, ids = prompt, 0, []
    while True:
        logits, caches = model(torch.tensor(unread), torch.tensor([[len(unread), read]]), caches)
        read += len(unread)
        ids.append(sampler.choose(logits[0].tolist()))
        seen(ids[-1])
        if ids[-1] == language.end or len(ids) == most:
            return ids
        unread = ids[-1:]


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a text with the model of this directory.")
    parser.add_argument("question")
    parser.add_argument("--max-tokens", type=int, default=100)
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--top-k", type=int, default=0)
    parser.add_argument("--top-p", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    directory = Path(__file__).resolve().parent
    language = Language(directory)
    sampler = Sampler(Sampling(arguments.temperature, arguments.top_k, arguments.top_p, arguments.seed))
    model = torch.jit.load(directory / "model.pt")
    prompt = language.chat([{"role": "user", "content": arguments.question}])
    print(language.text(write(model, language, prompt, sampler, arguments.max_tokens)))


if __name__ == "__main__":
    main()
