"""An initialization in which copying from the context already works.

Small models find the induction circuit late: it needs two heads at once, each useless alone.
So both are written into the initial weights, and training only refines them:

* embeddings use half of the residual stream (`content`) and one constant dimension;
* heads 0 and 1 of layer 0 attend to the token before (scores depend on distance alone, through
  the fast rotary pairs) and write its content into the other half (`memory`);
* heads of layer 1 compare the content of this token with the memory of earlier ones, through the
  slow rotary pairs, and write the content found there, which the tied output layer reads.
"""

from __future__ import annotations

import torch

from models.llama import Llama

CONSTANT = 0.25
SHARPNESS = 4.0
MATCH = 2.5
COPY = 3.0
DISTANCE_WEIGHTS = (3.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0)


@torch.no_grad()
def initialize(model: Llama) -> None:
    """Overwrites embeddings and layers 0 and 1; needs 4 heads of hidden_size / 4."""
    shape = model.shape
    size, dim = shape.hidden_size, shape.head_dim
    if shape.num_attention_heads * dim != size or shape.num_attention_heads != 4:
        raise ValueError("the induction circuit is laid out for 4 heads of hidden_size / 4")
    half = size // 2
    embedding = model.model.embed_tokens.weight
    embedding.normal_(std=half**-0.5)
    embedding[:, half:] = 0.0
    embedding[:, 0] = CONSTANT
    previous_token(model, half)
    matching(model, half)


def previous_token(model: Llama, half: int) -> None:
    shape = model.shape
    dim, pairs = shape.head_dim, shape.head_dim // 2
    attention = model.model.layers[0].self_attn
    # The normed constant: CONSTANT over the root mean square of an embedding.
    constant = CONSTANT / ((1 + CONSTANT**2) / shape.hidden_size) ** 0.5
    frequency = shape.rope_theta ** (-torch.arange(pairs).float() / pairs)
    for head in (0, 1):
        rows = slice(head * dim, (head + 1) * dim)
        for weight in (attention.q_proj.weight, attention.k_proj.weight):
            weight[rows] = 0.0
        for pair, share in enumerate(DISTANCE_WEIGHTS):
            amplitude = (dim**0.5 * SHARPNESS * share) ** 0.5 / constant
            low, high = head * dim + pair, head * dim + pair + pairs
            attention.q_proj.weight[low, 0] = amplitude
            # The key is turned ahead by one position, so that the peak is at distance 1.
            attention.k_proj.weight[low, 0] = amplitude * frequency[pair].cos()
            attention.k_proj.weight[high, 0] = amplitude * frequency[pair].sin()
        source = slice(head * dim, (head + 1) * dim)
        target = slice(half + head * dim, half + (head + 1) * dim)
        attention.v_proj.weight[rows] = 0.0
        attention.v_proj.weight[rows, source] = torch.eye(dim)
        attention.o_proj.weight[:, rows] = 0.0
        # Undoes the gain of the norm, so that memory is as large as content.
        attention.o_proj.weight[target, rows] = torch.eye(dim) * shape.hidden_size**-0.5


def matching(model: Llama, half: int) -> None:
    shape = model.shape
    dim, pairs = shape.head_dim, shape.head_dim // 2
    attention = model.model.layers[1].self_attn
    slow = [*range(pairs // 2, pairs), *range(pairs + pairs // 2, dim)]
    for head in range(4):
        rows = slice(head * dim, (head + 1) * dim)
        attention.q_proj.weight[rows] = 0.0
        attention.k_proj.weight[rows] = 0.0
        for place, row in enumerate(slow):
            content = head * len(slow) + place
            attention.q_proj.weight[head * dim + row, content] = MATCH * (content > 0)
            attention.k_proj.weight[head * dim + row, half + content] = MATCH * (content > 0)
        source = slice((head % 2) * dim, (head % 2 + 1) * dim)
        attention.v_proj.weight[rows] = 0.0
        attention.v_proj.weight[rows, source] = torch.eye(dim)
        attention.o_proj.weight[:, rows] = 0.0
        attention.o_proj.weight[source, rows] = torch.eye(dim) * COPY / 2 * half**-0.5
