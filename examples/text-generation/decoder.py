"""A small decoder-only transformer: rotary positions, and a key/value cache that is an input and an output."""

from typing import Optional

import torch
from torch import nn
from torch.nn import functional

# A cache grows by this many tokens. Growing copies it, so it does not grow with every token.
BLOCK = 64


class Decoder(nn.Module):
    # The name stands in the file; this one tells nothing of the machine.
    __module__ = "__main__"

    def __init__(self, vocabulary: int, width: int, layers: int, heads: int, context: int):
        super().__init__()
        self.layers, self.heads, self.size, self.block = layers, heads, width // heads, BLOCK
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        angles = torch.arange(context)[:, None] * 10_000 ** (-torch.arange(0, self.size, 2) / self.size)
        # [context, 3, 1, size]: of query, key and value. The value is not turned.
        ones, zeros = torch.ones(context, 1, self.size), torch.zeros(context, 1, self.size)
        cosines, sines = angles.cos().repeat(1, 2)[:, None], torch.cat([-angles.sin(), angles.sin()], 1)[:, None]
        self.register_buffer("cosines", torch.stack([cosines, cosines, ones], 1), persistent=False)
        self.register_buffer("sines", torch.stack([sines, sines, zeros], 1), persistent=False)

    def forward(
        self, ids: torch.Tensor, texts: torch.Tensor, caches: list[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Reads further tokens of several texts, of each as many as there are, and tells what may come next.

        ids: [tokens], the further tokens of all texts, one text after another. texts: [texts, 2], of each how many
        tokens are further ones and how many its cache has. caches: of each [layers, 2, heads, capacity, size], empty at
        first. Returns the logits after each text's last token, [texts, vocabulary], and the caches: the same tensors,
        written to, or longer ones. Nothing is padded, so a text's result does not depend on the others.
        """
        counts, lengths = torch.jit.annotate(list[list[int]], texts.t().tolist())
        grown = torch.jit.annotate(list[torch.Tensor], [])
        masks = torch.jit.annotate(list[Optional[torch.Tensor]], [])
        seen = torch.jit.annotate(list[list[torch.Tensor]], [])
        written = torch.jit.annotate(list[list[torch.Tensor]], [])
        for count, length, cache in zip(counts, lengths, caches):
            end = length + count
            missing = end - cache.size(3)
            if missing > 0:
                more = (missing + self.block - 1) // self.block * self.block
                shape = [self.layers, 2, self.heads, more, self.size]
                cache = torch.cat([cache, torch.zeros(shape, device=ids.device)], 3)
            grown.append(cache)
            mask: Optional[torch.Tensor] = None
            if count > 1:
                mask = torch.ones([count, end], dtype=torch.bool, device=ids.device).tril(length)
            masks.append(mask)
            # All views are made here, as a view for each layer and text costs as much as the attention to a few tokens.
            # Of each layer the keys, then the values, [1, heads, end, size].
            seen.append(cache.narrow(3, 0, end).flatten(0, 1).unsqueeze(1).unbind(0))
            written.append(cache.narrow(3, length, count).unbind(0))
        further, read = texts.unbind(1)
        ends = further.cumsum(0)
        position = torch.arange(ids.size(0), device=ids.device) + (read + further - ends).repeat_interleave(further)
        cosines, sines = self.cosines[position], self.sines[position]
        hidden = self.embedding(ids)
        for layer, block in enumerate(self.blocks):
            keys, values = [each[2 * layer] for each in seen], [each[2 * layer + 1] for each in seen]
            hidden = block(hidden, cosines, sines, counts, masks, [each[layer] for each in written], keys, values)
        last = self.norm(hidden[ends - 1])
        return functional.linear(last, self.embedding.weight), grown

    @torch.jit.unused
    def learn(self, ids: torch.Tensor) -> torch.Tensor:
        """The logits after every token of texts of one length, [texts, tokens, vocabulary], for training."""
        hidden = self.embedding(ids)
        for block in self.blocks:
            hidden = block.learn(hidden, self.cosines[: ids.shape[1]], self.sines[: ids.shape[1]])
        return functional.linear(self.norm(hidden), self.embedding.weight)


class Block(nn.Module):
    __module__ = "__main__"

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.before_neurons = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(
        self,
        hidden: torch.Tensor,
        cosines: torch.Tensor,
        sines: torch.Tensor,
        counts: list[int],
        masks: list[Optional[torch.Tensor]],
        written: list[torch.Tensor],
        keys: list[torch.Tensor],
        values: list[torch.Tensor],
    ) -> torch.Tensor:
        projected = self.project(hidden, cosines, sines).permute(1, 2, 0, 3)
        queries, pairs = projected[:1].split(counts, 2), projected[1:].split(counts, 2)
        attended = torch.jit.annotate(list[torch.Tensor], [])
        for query, pair, place, key, value, mask in zip(queries, pairs, written, keys, values, masks):
            place.copy_(pair)
            attended.append(functional.scaled_dot_product_attention(query, key, value, attn_mask=mask))
        hidden = hidden + self.out(torch.cat(attended, 2)[0].transpose(0, 1).flatten(1))
        return hidden + self.neurons(hidden)

    @torch.jit.unused
    def learn(self, hidden: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
        query, key, value = self.project(hidden, cosines, sines).permute(2, 0, 3, 1, 4)
        answer = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        hidden = hidden + self.out(answer.transpose(1, 2).flatten(2))
        return hidden + self.neurons(hidden)

    def project(self, hidden: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
        """Query, key and value of each token, [..., 3, heads, size], the first two turned by their positions."""
        projected = self.query_key_value(self.before_attention(hidden)).unflatten(-1, [3, self.heads, -1])
        return torch.addcmul(projected * cosines, projected.roll(projected.size(-1) // 2, -1), sines)

    def neurons(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.down(functional.gelu(self.up(self.before_neurons(hidden))))
