"""Loads a model and prepares it for tracing: its inputs, its limits, its precision."""

import copy
import inspect
from collections.abc import Callable

import torch
import transformers
from torch import nn

from progress import warn
from refused import INSTEAD, Refused, first_line
from tasks import QUESTION_ANSWERING, SENTENCE_EMBEDDINGS, Task

# What models without a longest input, such as T5, were trained with.
USUAL_LONGEST = 512

# What families call the most tokens of a row.
LIMITS = [
    "max_position_embeddings", "n_positions", "n_ctx", "max_sequence_length", "max_seq_length", "max_seq_len", "seq_length"
]  # fmt: skip

# Families that no artifact can be made of, by transformers' name for them.
IMPOSSIBLE = {
    "canine": "reads characters and no tokens",
    "funnel": "counts its positions in Python, so that a trace takes one length only",
    "led": "counts the windows of its attention in Python, so that a trace takes one length only",
    "longformer": "counts the windows of its attention in Python, so that a trace takes one length only",
    "nystromformer": "takes rows of one length only",
    "xlnet": "writes its CLS token behind the text and with a token type of its own, which model.json can't say",
    "yoso": "attends by a function that no trace can hold",
}


class PositionalInputs(nn.Module):
    """Takes the inputs by position and returns what `head` makes of the answer: what TorchScript callers need.

    For question answering that is (start_logits, end_logits) as float32.

    With a `mask` it answers for the tokens of that id only, those of all rows one behind the other: a vocabulary of logits
    for every token is dozens of megabytes, and a third of the work.
    """

    # TorchScript names a class after its module, and leaves out `__main__`: this name is the file's whoever imports it.
    __module__ = "__main__"

    def __init__(
        self, model: nn.Module, inputs: list[str], head: Callable = QUESTION_ANSWERING.head, mask: int | None = None
    ):
        super().__init__()
        self.model = model
        self.inputs = inputs
        self.head = head
        self.mask = mask

    def forward(self, *tensors):
        attention_mask = tensors[self.inputs.index("attention_mask")]
        if self.mask is None:
            return self.head(self.answer(tensors), attention_mask)
        places = tensors[self.inputs.index("input_ids")] == self.mask
        # The layer that makes words of vectors is called with the masks' vectors alone.
        words = self.model.get_output_embeddings()
        hook = words.register_forward_pre_hook(lambda _, vectors: (vectors[0][places],))
        try:
            logits = self.head(self.answer(tensors), attention_mask)
        finally:
            hook.remove()
        # Some models make words otherwise.
        return logits[places] if logits.dim() == 3 else logits

    def answer(self, tensors):
        return self.model(**dict(zip(self.inputs, tensors, strict=True)), return_dict=True)


def load_model(model: str, attention: str | None = None, task: Task = QUESTION_ANSWERING) -> nn.Module:
    """The model in fp32, whatever it is stored in.

    `attention` chooses an implementation by transformers' name for it. Its own choice is SDPA where the model has it.
    """
    # transformers before 4.36 knows eager attention only, and does not know the argument.
    knows_choice = hasattr(transformers.PreTrainedModel, "_supports_sdpa")
    choice = {"attn_implementation": attention} if attention and knows_choice else {}
    try:
        loader = getattr(transformers, task.loader)
        loaded, report = loader.from_pretrained(model, output_loading_info=True, **choice)
    except Exception as error:
        raise Refused(f"--model {model}: can't be loaded for {task.words}: {first_line(error)}") from error
    made_up = sorted(set(report["missing_keys"]) & {name for name, _ in loaded.named_parameters()})
    if task is SENTENCE_EMBEDDINGS:
        # Only the tokens' vectors are used.
        made_up = [name for name in made_up if not name.startswith("pooler.")]
    if made_up:
        raise Refused(
            f"--model {model}: has no weights for {', '.join(made_up[:3])}; take one fine-tuned for {task.words}"
        )
    # A BigBird would do so at its first short row, and for good.
    for module in loaded.modules():
        if hasattr(module, "set_attention_type"):
            module.set_attention_type("original_full")
    return loaded.float().eval()


def refuse_impossible(model: nn.Module) -> None:
    reason = IMPOSSIBLE.get(model.config.model_type)
    if reason:
        raise Refused(f"{type(model).__name__}: {reason}; {INSTEAD}")


def input_names(model: nn.Module) -> list[str]:
    """What `forward` is given. Models of one token type (RoBERTa) accept token_type_ids but have no use for them."""
    names = ["input_ids", "attention_mask"]
    takes_token_types = "token_type_ids" in inspect.signature(model.forward).parameters
    if takes_token_types and getattr(model.config, "type_vocab_size", 0) > 1:
        names.append("token_type_ids")
    return names


def padding_id(model: nn.Module) -> int:
    padding = model.config.pad_token_id
    if padding is None:
        raise Refused("config.json: pad_token_id is missing, expected the id of the padding token")
    return padding


def longest_sequence(model: nn.Module, *others) -> int:
    """The most tokens of a row: the least that the model's files say. `others` are those of its tokenizer and the like."""
    config = model.config
    limits = [limit - of_padding(model) if name == LIMITS[0] else limit
              for name in LIMITS if is_limit(limit := getattr(config, name, None))]  # fmt: skip
    limits += [int(limit) for limit in others if is_limit(limit)]
    if getattr(config, "attention_type", None) == "block_sparse":
        limits.append(longest_full_attention(model))
    if not limits:
        warn(f"{type(model).__name__} has no longest input; the artifact takes up to {USUAL_LONGEST} tokens")
    return min(limits, default=USUAL_LONGEST)


def is_limit(value) -> bool:
    """A tokenizer without a limit has the length 1e30, and XLNet has -1."""
    return isinstance(value, int | float) and 1 <= value < 2**31


def of_padding(model: nn.Module) -> int:
    """RoBERTa's first positions, up to the padding id, belong to the padding."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return module.padding_idx + 1
    return 0


def longest_full_attention(model: nn.Module) -> int:
    """The most tokens that all attend to all in a BigBird. A trace keeps to this way, and can't choose by length.

    The formula is that of transformers' BigBirdModel.forward.
    """
    config = model.config
    longest = (5 + 2 * config.num_random_blocks) * config.block_size
    if longest < config.max_position_embeddings:
        warn(
            f"{type(model).__name__} attends sparsely beyond {longest} tokens, and a trace can't switch to that; "
            f"the artifact takes up to {longest} tokens"
        )
    return longest


def at_precision(model: nn.Module, precision: str) -> nn.Module:
    """A copy of the fp32 model that computes at `precision`; for fp32 the model itself."""
    if precision == "int8":
        # Only here: torch.ao is gone from some builds of torch, and the Neuron compilers do without.
        from quantisation import quantise

        return quantise(model)
    if precision == "fp32":
        return model
    return copy.deepcopy(model).to({"fp16": torch.float16, "bf16": torch.bfloat16}[precision])
