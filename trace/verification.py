"""Compares a traced model with the untraced one on real sentences of many shapes, and measures its speed."""

import time
from typing import NamedTuple

import tokenizers
import torch

from progress import each, warn
from refused import INSTEAD, Refused, last_line

LARGEST_FP32_DIFFERENCE = 1e-4
# The same as a share of the largest logit. A traced convolution has the normalisation behind it in its weights.
LARGEST_FP32_SHARE = 1e-5

# Half of the distance between 1 and the next number.
ROUNDING = {"fp16": 2.0**-11, "bf16": 2.0**-8}

# Another order of sums rounds otherwise, in every layer. What that adds up to grows with the logits, and 16 roundings
# of the largest one are more than layers of normalised activations make of it: 0.8 % in fp16, 6 % in bf16.
ROUNDINGS = 16

# Longer rows than requests ask for by default, which is 384 tokens. The few models that take more, such as ModernBERT
# with its 8192, would take minutes.
LONGEST_VERIFIED = 1024

# Padding may move logits by this share of the largest, as it changes the order of sums.
TOLERATED_OF_PADDING = 1e-3

# Other rows may move those of a row by this share of the largest, for the same reason.
TOLERATED_OF_ROWS = 1e-3

# Tokens of padding. A row has some wherever it is served beside a longer one.
PADDING_TRIED = 16

# A model of one class answers with its number, as there is no other class. It is the same within this share of the
# largest: int8 moves the logits of good rerankers by 2 %.
SAME_NUMBER = 0.05

# The logit of a token of the padding: far below any answer.
MASKED = -1e4


class Comparison(NamedTuple):
    """Two models' logits of one batch: the largest difference, the largest logit, and how many rows' answers agree.

    Rows of `one_class` always do: their answer is the number.
    """

    shape: list[int]
    difference: float
    largest: float
    same_answers: int
    one_class: bool = False


def batch(
    encodings: list[tokenizers.Encoding], inputs: list[str], padding: int, length: int | None = None
) -> list[torch.Tensor]:
    """The encodings as one padded batch: a tensor of shape [batch, length] for each input, in order.

    Without a `length` it is that of the longest; what is longer than `length` is cut.
    """
    length = length or max(len(encoding) for encoding in encodings)

    def padded(rows: list[list[int]], filler: int) -> torch.Tensor:
        return torch.tensor([(row + [filler] * (length - len(row)))[:length] for row in rows])

    tensors = {
        "input_ids": padded([encoding.ids for encoding in encodings], padding),
        "attention_mask": padded([[1] * len(encoding) for encoding in encodings], 0),
        "token_type_ids": padded([encoding.type_ids for encoding in encodings], 0),
    }
    return [tensors[name] for name in inputs]


def batches_of_many_shapes(
    examples: list[tokenizers.Encoding], inputs: list[str], padding: int, longest: int
) -> list[list[torch.Tensor]]:
    """Each example alone, all of them padded, and rows of the length `longest`; none but one as traced."""
    alone = [batch([example], inputs, padding) for example in examples]
    padded = [batch(examples[count:] * 2, inputs, padding) for count in range(2)]
    repetitions = -(-longest // padded[0][0].shape[1])
    full = [torch.cat([tensor] * repetitions, dim=1)[:2, :longest].contiguous() for tensor in padded[0]]
    return alone + padded + [full]


def batches_of_one_shape(
    examples: list[tokenizers.Encoding], inputs: list[str], padding: int, rows: int, length: int
) -> list[list[torch.Tensor]]:
    """Batches of the shape [rows, length], each beginning with another example."""
    return [
        batch([examples[(first + row) % len(examples)] for row in range(rows)], inputs, padding, length)
        for first in range(len(examples))
    ]


def compare(traced, untraced, batches: list[list[torch.Tensor]], device: str = "cpu") -> list[Comparison]:
    comparisons = []
    for inputs in each(batches, "compare"):
        inputs = [tensor.to(device) for tensor in inputs]
        other = run(untraced, inputs)
        one = run(traced, inputs, "the trace")
        comparisons.append(
            Comparison(
                shape=list(inputs[0].shape),
                difference=(one - other).abs().max().item(),
                # BigBird masks the question as far below.
                largest=other[other > MASKED].abs().max().item(),
                same_answers=same_rows(one, other),
                one_class=has_one_class(other),
            )
        )
    return comparisons


def same_rows(one: torch.Tensor, other: torch.Tensor) -> int:
    """How many rows have the same best classes, in all their tokens where those have classes of their own."""
    same = one.argmax(dim=-1) == other.argmax(dim=-1)
    return int(same.reshape(len(same), -1).all(dim=1).sum())


def has_one_class(logits: torch.Tensor) -> bool:
    return logits.dim() == 2 and logits.shape[1] == 1


def verify(name: str, comparisons: list[Comparison], precision: str) -> None:
    """Refuses a traced model whose logits differ by more than its precision explains, or whose answers differ.

    int8 is held to its answers: a last-bit difference may round an activation to its neighbour, which moves logits.
    Those of one class are held to SAME_NUMBER then. fp16 and bf16 are held to their logits: of two nearly equal ones, either may be the largest.
    """
    largest_of_all = max(comparison.largest for comparison in comparisons)
    for shape, difference, largest, same_answers, one_class in comparisons:
        if precision in ROUNDING:
            tolerated = ROUNDINGS * ROUNDING[precision] * largest
        elif precision == "fp32":
            tolerated = max(LARGEST_FP32_DIFFERENCE, LARGEST_FP32_SHARE * largest)
        else:
            tolerated = SAME_NUMBER * largest_of_all if one_class else float("inf")
        # `not <=` rather than `>`, so that NaN is refused too.
        if not difference <= tolerated:
            raise Refused(
                f"{name}: logits of shape {shape} differ by {difference:.2g} from the untraced model, "
                f"expected at most {tolerated:.2g}"
            )
        if precision not in ROUNDING and same_answers < shape[0]:
            raise Refused(f"{name}: answers of shape {shape} differ from those of the untraced model")


def summary(comparisons: list[Comparison]) -> str:
    difference = max(comparison.difference for comparison in comparisons)
    largest = max(comparison.largest for comparison in comparisons)
    rows = sum(comparison.shape[0] for comparison in comparisons)
    same = sum(comparison.same_answers for comparison in comparisons)
    return f"{difference:.2g}, of logits up to {largest:.1f}; the same best answer in {same} of {rows} rows"


def verify_padding(
    architecture: str, untraced, examples: list[tokenizers.Encoding], inputs: list[str], padding: int, longest: int
) -> None:
    """Refuses a model whose answers depend on padding, as where it convolves: they would depend on other requests."""
    largest = difference = 0.0
    same_answers = 0
    for example in examples:
        alone = run(untraced, batch([example], inputs, padding))
        wider = min(len(example) + PADDING_TRIED, longest)
        padded = run(untraced, batch([example], inputs, padding, wider))
        padded = padded[tuple(slice(size) for size in alone.shape)]
        largest = max(largest, alone[alone > MASKED].abs().max().item())
        difference = max(difference, (padded - alone).abs().max().item())
        same_answers += same_rows(padded, alone)
    if difference <= TOLERATED_OF_PADDING * largest:
        return
    found = f"{architecture}: padding changes its logits by {difference:.2g}"
    if same_answers < len(examples) or (has_one_class(alone) and difference > SAME_NUMBER * largest):
        raise Refused(f"{found} and its answers too, so these would depend on the other rows of a batch; {INSTEAD}")
    warn(f"{found}, of up to {largest:.1f}, so scores depend a little on the other rows of a batch")


def verify_rows(architecture: str, untraced, inputs: list[torch.Tensor]) -> None:
    """Refuses a model that says something else of a row beside others: the server gives it rows of several callers."""
    rows = range(len(inputs[0]))
    alone = torch.cat([run(untraced, [tensor[row : row + 1] for tensor in inputs]) for row in rows])
    together = run(untraced, inputs)
    turned = run(untraced, [tensor.flip(0) for tensor in inputs]).flip(0)
    largest = alone[alone > MASKED].abs().max().item()
    difference = max((other - alone).abs().max().item() for other in (together, turned))
    # As in `verify`.
    if not difference <= TOLERATED_OF_ROWS * largest:
        raise Refused(
            f"{architecture}: its rows depend on each other, other rows change its logits of a row by {difference:.2g} of up "
            f"to {largest:.1f}, so answers would depend on the other callers; {INSTEAD}"
        )


def run(model, inputs: list[torch.Tensor], name: str = "the model") -> torch.Tensor:
    """What a model returns, those numbers masked that padding has.

    Start and end logits are of shape [batch, 2, sequence]. Anything else is of shape [batch, classes], or of shape
    [batch, sequence, classes] where tokens have classes of their own.
    """
    shape = inputs[0].shape
    try:
        with torch.no_grad():
            answer = model(*inputs)
    except Exception as error:
        raise Refused(f"{name} fails on inputs of shape {list(shape)}: {last_line(error)}") from error
    logits = outputs_of(answer)
    if isinstance(answer, torch.Tensor):
        return checked(answer, inputs, name)
    for side in logits:
        if side.shape != shape or side.dtype != torch.float32:
            raise Refused(
                f"{name} answers inputs of shape {list(shape)} with {side.dtype} of shape {list(side.shape)}, "
                "expected a float32 logit for each token"
            )
        if not torch.isfinite(side).all():
            raise Refused(f"{name} answers inputs of shape {list(shape)} with logits that are no finite numbers")
    return torch.stack(logits, dim=1).masked_fill(inputs[1][:, None] == 0, MASKED)


def outputs_of(answer) -> list[torch.Tensor]:
    return [answer] if isinstance(answer, torch.Tensor) else list(answer)


def checked(answer: torch.Tensor, inputs: list[torch.Tensor], name: str) -> torch.Tensor:
    """The one tensor of a model, those numbers masked that padding has."""
    rows, *rest = inputs[0].shape
    per_token = answer.dim() == 3 and len(rest) == 1 and answer.shape[1] == rest[0]
    if answer.dtype != torch.float32 or answer.shape[0] != rows or not (per_token or answer.dim() == 2):
        raise Refused(
            f"{name} answers inputs of shape {[rows, *rest]} with {answer.dtype} of shape {list(answer.shape)}, "
            "expected float32 numbers for each row, or for each of its tokens"
        )
    if not torch.isfinite(answer).all():
        raise Refused(f"{name} answers inputs of shape {[rows, *rest]} with logits that are no finite numbers")
    return answer.masked_fill(inputs[1][:, :, None] == 0, MASKED) if per_token else answer


def per_second(traced, inputs: list[torch.Tensor], count: int, device: str = "cpu") -> float:
    """The speed on batches like `inputs`, which have `count` tokens or pictures; on one thread where the device is a CPU."""
    inputs = [tensor.to(device) for tensor in inputs]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    # TorchScript compiles on its first calls.
    for _ in range(3):
        run(traced, inputs)
    repetitions = 0
    seconds = 0.0
    started = time.perf_counter()
    while seconds < 1 and repetitions < 50:
        # This looks at the logits, so that no GPU is still busy with them.
        run(traced, inputs)
        repetitions += 1
        seconds = time.perf_counter() - started
    torch.set_num_threads(threads)
    return count * repetitions / seconds
