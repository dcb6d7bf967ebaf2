"""A tiny GPT that predicts the next character, and the data for it.

`python examples/networks/characters.py TEXT characters.npz` makes the data of a text. Then
`flashtrain train examples/networks/characters.py:gpt --data characters.npz` trains it.
"""

import sys
from pathlib import Path

import numpy as np

from flashtrain.training.layers import (
    GELU,
    Chain,
    Dropout,
    Embedding,
    LayerNorm,
    Linear,
    Positions,
    Residual,
    SelfAttention,
)
from flashtrain.training.networks import Network

TOKENS, CHARACTERS = 16, 128


def gpt(width: int = 16, heads: int = 2, blocks: int = 1, dropout: float = 0.1) -> Network:
    """ASCII characters to logits of the next one, at each of the 16 places of an example."""
    layers = [("embed", Embedding(CHARACTERS, width)), ("positions", Positions(TOKENS, width))]
    for block in range(blocks):
        attend = Chain(
            (
                ("norm", LayerNorm(width)),
                ("attend", SelfAttention(TOKENS, width, heads, causal=True)),
                ("dropout", Dropout(dropout)),
            )
        )
        think = Chain(
            (
                ("norm", LayerNorm(width)),
                ("expand", Linear(width, 4 * width)),
                ("gelu", GELU()),
                ("contract", Linear(4 * width, width)),
                ("dropout", Dropout(dropout)),
            )
        )
        layers += [(f"attention{block}", Residual(attend)), (f"feedforward{block}", Residual(think))]
    layers += [("norm", LayerNorm(width)), ("output", Linear(width, CHARACTERS))]
    return Network("gpt", (TOKENS,), CHARACTERS, tuple(layers))


def examples(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Pieces of the text, and the same pieces one character later."""
    codes = np.frombuffer(text.encode("ascii", "replace"), np.uint8)
    starts = np.arange(0, len(codes) - TOKENS, TOKENS)
    windows = starts[:, None] + np.arange(TOKENS)
    return codes[windows], codes[windows + 1]


if __name__ == "__main__":
    inputs, targets = examples(Path(sys.argv[1]).read_text(encoding="utf-8"))
    tests = max(1, len(inputs) // 10)
    np.savez(
        sys.argv[2],
        train_inputs=inputs[tests:], train_targets=targets[tests:],
        test_inputs=inputs[:tests], test_targets=targets[:tests],
    )  # fmt: skip
