"""Asks a model as transformers' own pipeline of its task does: for the sample, and to compare a traced file with it."""

import transformers
from torch import nn

import pictures
import splade
import tasks
import verification
from pictures import Pictures
from refused import Refused
from subject import Subject

# Of scores, in fp32. Another order of sums rounds otherwise.
TOLERATED = 1e-4

# Letters of an answer in a message.
LONGEST_SHOWN = 1000


def mask(text: str, name: str) -> str:
    """The text with its second word masked."""
    words = text.split()
    return " ".join([words[0], transformers.AutoTokenizer.from_pretrained(name).mask_token, *words[2:]])


def asker(name: str, subject: Subject | Pictures, file):
    """Answers as the task's pipeline does. transformers has none that pools: there it is the vector."""
    if subject.task is tasks.IMAGE_CLASSIFICATION:
        return tasks.pipeline(
            subject.task, name, subject.model, file, subject.inputs, image_processor=subject.processor
        )
    if subject.task not in tasks.EMBEDDINGS:
        pipeline = tasks.pipeline(subject.task, name, subject.model, file, subject.inputs, mask=subject.mask)
        if subject.task is tasks.TOKEN_CLASSIFICATION and not pipeline.tokenizer.is_fast:
            unknown = pipeline.tokenizer.unk_token
            return lambda text: [placed(entity, text, subject, unknown) for entity in pipeline(text)]
        return pipeline

    def vector(text: str) -> list[float]:
        row = verification.batch([encoded(text, subject)], subject.inputs, subject.padding)
        return verification.run(file, row)[0].tolist()[: subject.parameters.get("truncate_dim")]

    return vector


def encoded(text: str, subject: Subject):
    """With the prompt that the server puts in front."""
    return subject.tokenizer.encode(subject.parameters.get("prompt", "") + text)


def placed(entity: dict, text: str, subject: Subject, unknown: str) -> dict:
    """An entity with its place, which the pipeline only knows of tokenizers in Rust; an unknown word as it is there."""
    start, end = subject.tokenizer.encode(text).offsets[entity["index"]]
    word = text[start:end] if entity["word"] == unknown else entity["word"]
    return entity | {"word": word, "start": start, "end": end}


def sample(name: str, subject: Subject | Pictures, untraced: nn.Module) -> tuple[dict | bytes, list | dict]:
    """A request, and what the pipeline answers it. Of sparse embeddings it is the weights by their tokens."""
    if subject.task is tasks.IMAGE_CLASSIFICATION:
        picture = subject.asked()[0]
        return pictures.png(picture), rounded(asker(name, subject, untraced)(picture))
    if subject.task is tasks.SPARSE_EMBEDDINGS:
        text = clearest(texts(name, subject), subject)
        return {"inputs": text}, rounded(splade.named(asker(name, subject, untraced)(text), subject.tokenizer))
    text = texts(name, subject)[0]
    return {"inputs": text}, rounded(asker(name, subject, untraced)(text))


def clearest(texts: list[str], subject: Subject) -> str:
    """The text whose answer has the same tokens on another machine: none of the logits is nearly 0, above or below."""
    logits = subject._replace(head=splade.largest).module("fp32")

    def nearest(text: str) -> float:
        row = verification.batch([encoded(text, subject)], subject.inputs, subject.padding)
        return verification.run(logits, row).abs().min().item()

    return max(texts, key=nearest)


def verify(name: str, subject: Subject | Pictures, untraced: nn.Module, traced: nn.Module, precision: str) -> None:
    """Refuses a file with which the pipeline answers otherwise than with the untraced model."""
    ours, theirs = (asker(name, subject, file) for file in (traced, untraced.to("cpu")))
    asked = subject.asked() if subject.task is tasks.IMAGE_CLASSIFICATION else texts(name, subject)
    largest = 0.0
    for one in asked:
        one, other = rounded(ours(one)), rounded(theirs(one))
        if precision == "fp32" and not alike(one, other):
            one, other = (str(answer)[:LONGEST_SHOWN] for answer in (one, other))
            raise Refused(f"the pipeline answers {one} with the traced file, and {other} with the model")
        largest = max(largest, difference(one, other))
    print(f"pipeline: {len(asked)} answers as with the untraced model, scores at most {largest:.2g} apart")


def texts(name: str, subject: Subject) -> list[str]:
    """Texts that the model takes whole."""
    contexts = [subject.language.sample["context"]] + [context for _, context in subject.language.examples]
    whole = [fitting(text, subject) for text in contexts]
    return [mask(text, name) for text in whole] if subject.task is tasks.FILL_MASK else whole


def fitting(text: str, subject: Subject) -> str:
    while text and len(encoded(text, subject)) > subject.longest:
        text = text[: len(text) // 2]
    return text


def alike(one, other) -> bool:
    """The same but for the last digits of numbers."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return abs(one - other) <= TOLERATED if isinstance(one, float) else one == other


def difference(one, other) -> float:
    """The largest between two scores in the same place."""
    if isinstance(one, dict):
        return max((difference(value, other.get(name)) for name, value in one.items()), default=0.0)
    if isinstance(one, list):
        return max(map(difference, one, other), default=0.0)
    return abs(one - other) if isinstance(one, float) and isinstance(other, float) else 0.0


def rounded(answer):
    """Plain Python, scores to 6 digits."""
    if isinstance(answer, dict):
        return {name: rounded(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return [rounded(value) for value in answer]
    return round(float(answer), 6) if isinstance(answer, float) or hasattr(answer, "dtype") else answer
