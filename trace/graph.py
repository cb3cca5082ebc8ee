"""Rewrites a model for the CPU before it is traced: less work for a row, the same logits to the last bit.

Query, key and value are one linear layer in place of three, so int8 looks for the range of its input once and not
three times. Quantised with a scale for each channel, the joined weights are those of the three layers.

A row without padding goes without a mask. The file looks at the mask once, which would make a GPU wait. So it is done
for CPUs only.
"""

import copy
from collections.abc import Callable

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from model import PositionalInputs, at_precision
from tasks import QUESTION_ANSWERING

# Where transformers' self-attention keeps its projections to query, key and value, and the one of its result, if that
# is in the same class. ALBERT's ends in more than a projection, MPNet's and DeBERTa's have biases of positions.
PROJECTIONS = {
    "BertSelfAttention": (["query", "key", "value"], None),
    "CamembertSelfAttention": (["query", "key", "value"], None),
    "DistilBertSelfAttention": (["q_lin", "k_lin", "v_lin"], "out_lin"),
    "ElectraSelfAttention": (["query", "key", "value"], None),
    "RobertaSelfAttention": (["query", "key", "value"], None),
    "XLMRobertaSelfAttention": (["query", "key", "value"], None),
}


class MaskedInputs(PositionalInputs):
    """Makes the attention mask itself, in the four dimensions that transformers hands to attention as they are."""

    # As its superclass has.
    __module__ = "__main__"

    def forward(self, *tensors):
        at = self.inputs.index("attention_mask")
        return super().forward(*tensors[:at], mask_of_keys(tensors[at]), *tensors[at + 1 :])


class SelfAttention(nn.Module):
    """An encoder's attention with one projection, called as transformers calls the one that it is made of."""

    def __init__(self, original: nn.Module):
        super().__init__()
        inputs, output = PROJECTIONS[type(original).__name__]
        self.inputs = joined([getattr(original, name) for name in inputs])
        self.output = getattr(original, output) if output else nn.Identity()
        self.head_size = original.attention_head_size
        self.scaling = original.scaling

    def forward(self, hidden_states, attention_mask, **_):
        return self.output(attend(self.inputs(hidden_states), attention_mask, self.head_size, self.scaling)), None


def is_known(model: nn.Module) -> bool:
    """Whether all attention in the model is of a known class and looks at whole rows by SDPA."""
    config = model.config
    is_encoder = not getattr(config, "is_decoder", False) and not getattr(config, "add_cross_attention", False)
    by_sdpa = getattr(config, "_attn_implementation", None) == "sdpa"
    return is_encoder and by_sdpa and len(self_attentions(model)) == config.num_hidden_layers


def for_cpu(
    model: nn.Module,
    inputs: list[str],
    precision: str,
    head: Callable = QUESTION_ANSWERING.head,
    mask: int | None = None,
) -> PositionalInputs:
    """The known fp32 model as it is to be traced."""
    rewritten = copy.deepcopy(model)
    for name, original in self_attentions(rewritten).items():
        parent, _, child = name.rpartition(".")
        setattr(rewritten.get_submodule(parent), child, SelfAttention(original))
    return MaskedInputs(at_precision(rewritten, precision), inputs, head, mask).eval()


def self_attentions(model: nn.Module) -> dict[str, nn.Module]:
    return {name: module for name, module in model.named_modules() if type(module).__name__ in PROJECTIONS}


def joined(layers: list[nn.Linear]) -> nn.Linear:
    """One layer whose outputs are those of the given ones, side by side."""
    one = nn.Linear(layers[0].in_features, sum(layer.out_features for layer in layers))
    one.weight = nn.Parameter(torch.cat([layer.weight for layer in layers]), requires_grad=False)
    one.bias = nn.Parameter(torch.cat([layer.bias for layer in layers]), requires_grad=False)
    return one


# Compiled, since a trace would record one of the two ways only.
@torch.jit.script
def mask_of_keys(attention_mask: torch.Tensor) -> torch.Tensor:
    """For each row which keys it may look at, of shape [batch, 1, 1, sequence]; of no rows where nothing is padded."""
    mask = attention_mask.to(torch.bool)[:, None, None]
    if bool(mask.all()):
        return mask[:0]
    return mask


@torch.jit.script
def attend(inputs: torch.Tensor, mask: torch.Tensor, head_size: int, scaling: float) -> torch.Tensor:
    """Query, key and value side by side to the attended values, of shape [batch, sequence, a third of the width]."""
    rows, tokens, _ = inputs.shape
    query, key, value = inputs.view(rows, tokens, 3, -1, head_size).permute(2, 0, 3, 1, 4).unbind(0)
    if mask.size(0) == 0:
        attended = scaled_dot_product_attention(query, key, value, scale=scaling)
    else:
        attended = scaled_dot_product_attention(query, key, value, mask, scale=scaling)
    return attended.transpose(1, 2).reshape(rows, tokens, -1)
