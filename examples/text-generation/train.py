"""Trains the small language model of this directory on one thread: `weights.pt`, `tokenizer.json`, `text.json`.

    pip install torch tokenizers
    bible -f gen1:1-rev22:21 > kjv.txt      # Debian: apt-get install bible-kjv
    python examples/text-generation/train.py kjv.txt OUTPUT

A quarter of what it sees is the text, a verse a line without its place; the rest are dialogues of `dialogues.py`.
"""

import argparse
import json
import random
import time
from pathlib import Path

import tokenizers
import torch
from torch.nn import functional

import dialogues
from decoder import Decoder

# No text makes these: they are no tokens of tokenizer.json, and stand behind its own.
MARKS = ["system", "user", "assistant", "end"]
VOCABULARY = 1024
SHAPE = {"vocabulary": VOCABULARY, "width": 128, "layers": 4, "heads": 4, "context": 512}
DIALOGUES = 8_000
BATCH = 2
# Of the windows that it sees.
DIALOGUES_PART = 0.75
RATE, MATRIX_RATE = 3e-3, 0.02
WARM_UP = 40


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a small language model.")
    parser.add_argument("text", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--minutes", type=float, default=14)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)

    verses = [line.split(" ", 1)[1] for line in arguments.text.read_text(encoding="latin-1").splitlines()]
    chance = random.Random(0)
    talks = [dialogues.dialogue(chance) for _ in range(DIALOGUES)]
    tokenizer = train_tokenizer(verses[::4] + [text for talk in talks[:2000] for _, text in talk])
    marks = {name: VOCABULARY - len(MARKS) + i for i, name in enumerate(MARKS)}
    arguments.output.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(arguments.output / "tokenizer.json"), pretty=False)
    (arguments.output / "text.json").write_text(json.dumps(SHAPE | {"marks": marks}, indent=2) + "\n")

    prose = torch.tensor(tokenizer.encode("\n".join(verses)).ids)
    chat = torch.tensor([
        token
        for talk in talks
        for role, text in talk
        for token in (marks[role], *tokenizer.encode(text).ids, marks["end"])
    ])
    print(f"{len(prose)} tokens of prose, {len(chat)} of dialogues", flush=True)
    model = Decoder(**SHAPE)
    train(model, prose, chat, arguments.minutes * 60)
    torch.save(model.state_dict(), arguments.output / "weights.pt")


def train_tokenizer(texts: list[str]) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(MARKS),
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def train(model: Decoder, prose: torch.Tensor, chat: torch.Tensor, seconds: float) -> None:
    matrices = [weight for block in model.blocks for weight in block.parameters() if weight.ndim == 2]
    known = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in known]
    torch.nn.init.normal_(model.embedding.weight, std=0.02)
    optimizers = [torch.optim.Muon(matrices, lr=MATRIX_RATE), torch.optim.AdamW(others, lr=RATE, weight_decay=0)]
    start, step, smooth = time.monotonic(), 0, 0.0
    while (spent := (time.monotonic() - start) / seconds) < 1:
        factor = min(1, (step + 1) / WARM_UP) * min(1, (1 - spent) / 0.4)
        for optimizer, rate in zip(optimizers, (MATRIX_RATE, RATE)):
            optimizer.param_groups[0]["lr"] = rate * factor
        corpora = [chat if torch.rand(()) < DIALOGUES_PART else prose for _ in range(BATCH)]
        windows = torch.stack([window(corpus) for corpus in corpora])
        logits = model.learn(windows[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        step += 1
        smooth = loss.item() if step == 1 else 0.98 * smooth + 0.02 * loss.item()
        if step % 50 == 0:
            print(f"{spent:4.0%}, {time.process_time():.0f} s of a core, step {step}: loss {smooth:.3f}", flush=True)


def window(corpus: torch.Tensor) -> torch.Tensor:
    begin = torch.randint(len(corpus) - SHAPE["context"], ()).item()
    return corpus[begin : begin + SHAPE["context"] + 1]


if __name__ == "__main__":
    main()
