"""Distils a small English encoder from a BERT-like one: the encoder of this directory is made so.

    pip install torch transformers tokenizers numpy
    python examples/embeddings/distil.py --teacher minilm-qa --output small-encoder TEXT...

1. cut the vocabulary to the most frequent English pieces: BERT's is sorted by their frequency;
2. gather sentences from the texts, and exchange words of theirs for others: no text has every word in it;
3. embed them with the lower half of the teacher; the upper half of a model for questions serves its questions only.
   The mean of all embeddings is taken off, as all sentences share it: without, every cosine would be near 1;
4. begin with the teacher's own weights: its word embeddings in fewer dimensions, two of its layers with the neurons
   that are active most;
5. train the small one to embed as the teacher does.

The texts were the documentation of Rust, Vim, Node.js, Perl and Python; two busy cores took eight minutes. As the
teacher is minilm-qa, so are licence and credits: `credits.args`.
"""

import argparse
import html
import json
import random
import re
import time
from pathlib import Path

import tokenizers
import torch
import transformers
from torch import nn
from torch.nn import functional

import encoder

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = 10_000
LONGEST = 256
EMBEDDING, NEURONS = 144, 512
# The teacher's layers to learn from, and those to begin with.
LEARNT_LAYERS, STARTING_LAYERS = 3, (0, 2)

SENTENCES = 24_000
# Everyday words may be exchanged, not those that hold a sentence together: the first words of the vocabulary.
HOLDING = 250
EXCHANGED = 0.5
EPOCHS, BATCH, RATE = 4, 64, 1e-3


def main() -> None:
    parser = argparse.ArgumentParser(description="Distil a small English sentence encoder.")
    parser.add_argument("--teacher", type=Path, required=True, help="a BERT in Hugging Face layout")
    parser.add_argument("--output", type=Path, required=True, help="directory to write the small encoder to")
    parser.add_argument("texts", type=Path, nargs="+", help="English texts, or directories of .txt, .md, .html, .pod")
    arguments = parser.parse_args()

    torch.manual_seed(7)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    teacher = transformers.BertModel.from_pretrained(arguments.teacher, add_pooling_layer=False).float().eval()
    large = json.loads((arguments.teacher / "tokenizer.json").read_text(encoding="utf-8"))
    kept = choose_pieces(large["model"]["vocab"])
    small = with_vocabulary(large, kept)

    sentences = exchange_words(gather(arguments.texts), [piece for piece in kept if piece.isalpha()][HOLDING:])
    student = start(teacher, torch.tensor([large["model"]["vocab"][piece] for piece in kept]))
    teacher.encoder.layer = teacher.encoder.layer[:LEARNT_LAYERS]
    targets = embed_all(teacher, tokenizers.Tokenizer.from_str(json.dumps(large)), sentences)
    train(student, tokenizers.Tokenizer.from_str(json.dumps(small)), sentences, targets - targets.mean(0))

    student.save_pretrained(arguments.output)
    text = json.dumps(small, ensure_ascii=False, separators=(",", ":"))
    (arguments.output / "tokenizer.json").write_text(text, encoding="utf-8")
    print(f"{arguments.output}: {sum(weights.numel() for weights in student.parameters()) / 1e6:.2f} M parameters")


def choose_pieces(vocabulary: dict[str, int]) -> list[str]:
    """Every ASCII character, so that few words are unknown, then words and parts of words, the frequent ones first."""
    pieces = [piece for piece in sorted(vocabulary, key=vocabulary.get) if piece.isascii() and piece not in SPECIAL]
    characters = [piece for piece in pieces if len(piece.removeprefix("##")) == 1] + list("–—‘’“”…€£")
    longer = [piece for piece in pieces if piece.removeprefix("##").isalnum() and piece not in set(characters)]
    return (SPECIAL + [piece for piece in characters if piece in vocabulary] + longer)[:VOCABULARY]


def with_vocabulary(tokenizer: dict, kept: list[str]) -> dict:
    """The tokenizer with those pieces only, numbered anew."""
    ids = {piece: id for id, piece in enumerate(kept)}
    special = tokenizer["post_processor"]["special_tokens"]
    return tokenizer | {
        "added_tokens": [token | {"id": ids[token["content"]]} for token in tokenizer["added_tokens"]],
        "post_processor": tokenizer["post_processor"]
        | {"special_tokens": {name: token | {"ids": [ids[name]]} for name, token in special.items()}},
        "model": tokenizer["model"] | {"vocab": ids},
    }


def gather(texts: list[Path]) -> list[str]:
    """Sentences of 4 to 24 words that are mostly letters."""
    files = [file for text in texts for file in (sorted(text.rglob("*")) if text.is_dir() else [text])]
    found = set()
    for file in files:
        if file.is_file() and (file in texts or file.suffix in (".txt", ".md", ".html", ".pod")):
            text = html.unescape(re.sub(r"<[^>]*>", " ", file.read_text(encoding="utf-8", errors="ignore")))
            found.update(re.findall(r"(?<=[.!?] )[A-Z][^.!?|#=\\]{15,140}[.!?](?= )", re.sub(r"\s+", " ", text)))
    prose = [
        sentence
        for sentence in sorted(found)
        if 4 <= len(sentence.split()) <= 24 and sum(c.isalpha() or c in " ,'" for c in sentence) > 0.95 * len(sentence)
    ]
    random.Random(7).shuffle(prose)
    return prose


def exchange_words(prose: list[str], words: list[str]) -> list[str]:
    chance = random.Random(8)
    exchangeable = set(words)

    def exchanged(sentence: str) -> str:
        return " ".join(
            chance.choice(words) if word.lower() in exchangeable and chance.random() < EXCHANGED else word
            for word in re.findall(r"\w+|[^\w\s]", sentence)
        )

    sentences = [exchanged(prose[place % len(prose)]) for place in range(SENTENCES)]
    print(f"{len(prose)} sentences found, {len(sentences)} made of them, such as: {sentences[0]}")
    return sentences


def embed_all(teacher: nn.Module, tokenizer: tokenizers.Tokenizer, sentences: list[str]) -> torch.Tensor:
    started = time.monotonic()
    tokens = encoder.TokenEmbeddings(teacher)
    # Of like length, as padding costs time.
    order = sorted(range(len(sentences)), key=lambda place: len(sentences[place]))
    targets = torch.empty(len(sentences), teacher.config.hidden_size)
    for first in range(0, len(order), BATCH):
        places = order[first : first + BATCH]
        inputs = encoder.batch(tokenizer, [sentences[place] for place in places], LONGEST)
        with torch.no_grad():
            targets[places] = encoder.mean(tokens(*inputs), inputs[1])
    print(f"embedded by the teacher in {time.monotonic() - started:.0f} s")
    return targets


def start(teacher: nn.Module, kept: torch.Tensor) -> transformers.ElectraModel:
    """An ELECTRA, as that is a BERT whose word embeddings may be narrower than its layers."""
    known = teacher.config
    config = transformers.ElectraConfig(
        vocab_size=len(kept), embedding_size=EMBEDDING, hidden_size=known.hidden_size, intermediate_size=NEURONS,
        num_hidden_layers=len(STARTING_LAYERS), num_attention_heads=known.num_attention_heads,
        max_position_embeddings=LONGEST, type_vocab_size=1, pad_token_id=0,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    student = transformers.ElectraModel(config)
    with torch.no_grad():
        start_embeddings(student, teacher.embeddings, kept)
        for layer, number in zip(student.encoder.layer, STARTING_LAYERS, strict=True):
            start_layer(layer, teacher.encoder.layer[number])
    return student


def start_embeddings(student: transformers.ElectraModel, known: nn.Module, kept: torch.Tensor) -> None:
    """The main directions of the teacher's embeddings, and the map back that fits them best."""
    words = known.word_embeddings.weight[kept]
    positions = known.position_embeddings.weight[:LONGEST] + known.token_type_embeddings.weight[0]
    directions = torch.linalg.svd(words - words.mean(0), full_matrices=False).Vh[:EMBEDDING].T
    student.embeddings.word_embeddings.weight.copy_(words @ directions)
    student.embeddings.position_embeddings.weight.copy_(positions @ directions)
    student.embeddings.token_type_embeddings.weight.zero_()

    ids = torch.arange(len(kept))
    places = ids % 24
    narrow = student.embeddings.LayerNorm((words + positions[places]) @ directions)
    wide = known.LayerNorm(words + positions[places])
    fit = torch.linalg.lstsq(torch.cat([narrow, torch.ones(len(ids), 1)], dim=1), wide).solution
    student.embeddings_project.weight.copy_(fit[:-1].T)
    student.embeddings_project.bias.copy_(fit[-1])


def start_layer(layer: nn.Module, known: nn.Module) -> None:
    weights = known.state_dict()
    strength = weights["intermediate.dense.weight"].norm(dim=1) * weights["output.dense.weight"].norm(dim=0)
    strongest = strength.topk(NEURONS).indices
    for name in ("intermediate.dense.weight", "intermediate.dense.bias"):
        weights[name] = weights[name][strongest]
    weights["output.dense.weight"] = weights["output.dense.weight"][:, strongest]
    layer.load_state_dict(weights)


def train(student: nn.Module, tokenizer: tokenizers.Tokenizer, sentences: list[str], targets: torch.Tensor) -> None:
    """Each embedding shall point where the teacher's does, and be as far from the others of its batch."""
    started = time.monotonic()
    tokens = encoder.TokenEmbeddings(student.train())
    targets = functional.normalize(targets)
    optimizer = torch.optim.AdamW(student.parameters(), weight_decay=1e-4)
    steps = -(-len(sentences) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, epochs=EPOCHS, steps_per_epoch=steps)
    for epoch in range(EPOCHS):
        total = 0.0
        for places in torch.randperm(len(sentences)).split(BATCH):
            inputs = encoder.batch(tokenizer, [sentences[place] for place in places], LONGEST)
            embedded, wanted = functional.normalize(encoder.mean(tokens(*inputs), inputs[1])), targets[places]
            distance = 1 - (embedded * wanted).sum(1).mean()
            loss = distance + functional.mse_loss(embedded @ embedded.T, wanted @ wanted.T)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += 1 - distance.item()
        spent = time.monotonic() - started
        print(f"epoch {epoch + 1} of {EPOCHS}: mean cosine to the teacher {total / steps:.3f}, {spent:.0f} s")
    student.eval()


if __name__ == "__main__":
    main()
