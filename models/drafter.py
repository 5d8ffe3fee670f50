"""The EAGLE 3.1 drafter: one layer on three captured states of the target.

Position p of a draft step gets embed(x[p+1]) and a hidden state for p, and predicts x[p+2].
Step 0 takes fc(norm_i(h_i[p])); step s takes the post-norm output of step s-1 at p-1
(`norm_output`). Keys and values of step 0 stay visible up to p-s, later ones are the chain's own.
Names of weights and order of norms follow vllm/model_executor/models/llama_eagle3.py.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.llama import MLP, Attention, Llama, RMSNorm, Shape, rotary

STEPS = 3


class DraftLayer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        size, eps = shape.hidden_size, shape.rms_norm_eps
        self.input_layernorm = RMSNorm(size, eps)
        self.hidden_norm = RMSNorm(size, eps)
        self.self_attn = Attention(shape, inputs=2 * size)
        self.post_attention_layernorm = RMSNorm(size, eps)
        self.mlp = MLP(shape)


class Drafter(nn.Module):
    """Three-step unrolled drafter (train-time test)."""

    def __init__(self, shape: Shape, target_hidden: int, captured: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = shape
        self.captured = captured
        self.fc_norm = nn.ModuleList(RMSNorm(target_hidden, shape.rms_norm_eps) for _ in captured)
        self.fc = nn.Linear(target_hidden * len(captured), shape.hidden_size, bias=False)
        self.midlayer = DraftLayer(shape)
        self.norm = RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        self.lm_head = nn.Linear(shape.hidden_size, shape.vocab_size, bias=False)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def combine(self, states: list[Tensor]) -> Tensor:
        parts = [norm(state) for norm, state in zip(self.fc_norm, states, strict=True)]
        return self.fc(torch.cat(parts, -1))

    def forward(self, embeds: Tensor, states: list[Tensor]) -> list[Tensor]:
        """Post-norm outputs of each step, (batch, length, hidden).

        `embeds[:, p]` is embed(x[p+1]); `states` are the captured streams at p.
        """
        cos, sin = rotary(embeds.shape[1], self.shape.head_dim, self.shape.rope_theta)
        layer = self.midlayer
        hidden = self.combine(states)
        embedded = layer.input_layernorm(embeds)
        keys: list[Tensor] = []
        values: list[Tensor] = []
        outputs = []
        for _ in range(STEPS):
            x = torch.cat([embedded, layer.hidden_norm(hidden)], -1)
            q, k, v = layer.self_attn.project(x, cos, sin)
            keys.append(k)
            values.append(v)
            mixed = chain_attention(q, keys, values)
            stream = hidden + layer.self_attn.o_proj(mixed.transpose(1, 2).flatten(2))
            stream = stream + layer.mlp(layer.post_attention_layernorm(stream))
            output = self.norm(stream)
            outputs.append(output)
            hidden = shifted(output)
        return outputs


def shifted(x: Tensor, by: int = 1) -> Tensor:
    """`x` moved `by` positions later along the length axis (dim -2)."""
    return F.pad(x, (0, 0, by, 0))[..., : x.shape[-2], :]


def chain_attention(q: Tensor, keys: list[Tensor], values: list[Tensor]) -> Tensor:
    """Attention of draft step s = len(keys) - 1.

    The query at p sees step-0 keys at positions <= p-s and, for t = 1..s, the step-t key at
    p-s+t. All tensors are (batch, heads, length, head_dim).
    """
    step = len(keys) - 1
    if step == 0:
        return F.scaled_dot_product_attention(q, keys[0], values[0], is_causal=True)
    length, dim = q.shape[-2:]
    allowed = torch.ones(length, length, dtype=torch.bool).tril(-step)
    scores = (q @ keys[0].transpose(-1, -2)).float().masked_fill(~allowed, float("-inf"))
    own_keys = [shifted(keys[t], step - t) for t in range(1, step + 1)]
    own_values = [shifted(values[t], step - t) for t in range(1, step + 1)]
    own = torch.stack([(q * k).float().sum(-1) for k in own_keys], -1)
    weights = (torch.cat([scores, own], -1) * dim**-0.5).softmax(-1).to(q.dtype)
    out = weights[..., :length] @ values[0]
    for t, value in enumerate(own_values):
        out = out + weights[..., length + t, None] * value
    return out


def losses(
    drafter: Drafter, target: Llama, ids: Tensor, mask: Tensor
) -> tuple[list[Tensor], list[float]]:
    """Cross entropy to the target's distribution and share of equal argmax, per step.

    Only positions whose predicted token x[p+2] was written by an assistant count.
    """
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        final, states = target(ids, drafter.captured)
        embeds = F.pad(target.model.embed_tokens(ids)[:, 1:], (0, 0, 0, 1))
    wanted = torch.zeros_like(mask)
    wanted[:, STEPS:-2] = mask[:, STEPS + 2 :]
    with torch.autocast("cpu", torch.bfloat16):
        with torch.no_grad():
            goal = target.logits(final[:, 1:][wanted[:, :-1]]).float()
        outputs = drafter(embeds, states)
        logits = [drafter.lm_head(out[wanted]).float() for out in outputs]
    best = goal.argmax(-1)
    probabilities = goal.softmax(-1)
    made = [F.cross_entropy(x, probabilities) for x in logits]
    hits = [(x.argmax(-1) == best).float().mean().item() for x in logits]
    return made, hits
