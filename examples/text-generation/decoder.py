"""A small decoder-only transformer: rotary positions, and a key/value cache that is an input and an output."""

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
        self.register_buffer("cosines", angles.cos().repeat(1, 2)[:, None, None], persistent=False)
        self.register_buffer("sines", angles.sin().repeat(1, 2)[:, None, None], persistent=False)

    def forward(
        self, ids: torch.Tensor, texts: torch.Tensor, caches: list[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Reads further tokens of several texts, of each as many as there are, and tells what may come next.

        ids: [tokens], the further tokens of all texts, one text after another. texts: [texts, 2], of each how many
        tokens are further ones and how many its cache has. caches: of each [layers, capacity, 2, heads, size], empty at
        first. Returns the logits after each text's last token, [texts, vocabulary], and the caches: the same tensors,
        written to, or longer ones. Nothing is padded, so a text's result does not depend on the others.
        """
        counts, lengths = torch.jit.annotate(list[list[int]], texts.t().tolist())
        grown = torch.jit.annotate(list[torch.Tensor], [])
        positions = torch.jit.annotate(list[torch.Tensor], [])
        for count, length, cache in zip(counts, lengths, caches):
            missing = length + count - cache.size(1)
            if missing > 0:
                more = (missing + self.block - 1) // self.block * self.block
                shape = [self.layers, more, 2, self.heads, self.size]
                cache = torch.cat([cache, torch.zeros(shape, device=ids.device)], 1)
            grown.append(cache)
            positions.append(torch.arange(length, length + count, device=ids.device))
        position = torch.cat(positions)
        cosines, sines = self.cosines[position], self.sines[position]
        hidden = self.embedding(ids)
        for layer, block in enumerate(self.blocks):
            hidden = block(hidden, cosines, sines, counts, lengths, [cache[layer] for cache in grown])
        last = self.norm(hidden[texts[:, 0].cumsum(0) - 1])
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
        lengths: list[int],
        caches: list[torch.Tensor],
    ) -> torch.Tensor:
        projected = self.project(hidden, cosines, sines)
        attended = torch.jit.annotate(list[torch.Tensor], [])
        begin = 0
        for count, length, cache in zip(counts, lengths, caches):
            own = projected[begin : begin + count]
            begin += count
            cache.narrow(0, length, count).copy_(own[:, 1:])
            seen = cache.narrow(0, 0, length + count).permute(1, 2, 0, 3).unsqueeze(1)
            query = own[:, 0].transpose(0, 1).unsqueeze(0)
            if count == 1:
                answer = functional.scaled_dot_product_attention(query, seen[0], seen[1])
            else:
                mask = torch.ones([count, length + count], dtype=torch.bool, device=hidden.device).tril(length)
                answer = functional.scaled_dot_product_attention(query, seen[0], seen[1], attn_mask=mask)
            attended.append(answer[0].transpose(0, 1).flatten(1))
        hidden = hidden + self.out(torch.cat(attended))
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
        turned = projected[..., :2, :, :]
        left, right = turned.chunk(2, -1)
        turned = turned * cosines + torch.cat([-right, left], -1) * sines
        return torch.cat([turned, projected[..., 2:, :, :]], -3)

    def neurons(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.down(functional.gelu(self.up(self.before_neurons(hidden))))
