"""Networks of the tests, and a training step with its result."""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

Step = Callable[[nn.Module], Tensor]
"""From a network to its loss."""


class Block(nn.Module):
    """A block of a transformer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        heads = self.qkv(self.norm(x)).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(*heads.unbind(0), is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(x)


class Transformer(nn.Module):
    """A language model whose embedding is also its last layer, transposed."""

    def __init__(self, words: int = 50, width: int = 32, blocks: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(blocks)))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.blocks(self.embedding(tokens)) @ self.embedding.weight.t()


def convnet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.Dropout(0.1),
        nn.Flatten(), nn.Linear(1024, 10),
    )  # fmt: skip


def mlp(width: int = 256, layers: int = 8) -> nn.Sequential:
    inner = (layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.GELU()))
    return nn.Sequential(nn.Linear(64, width), *inner, nn.Linear(width, 10))


def words_step() -> Step:
    tokens = torch.randint(0, 50, (4, 33))
    inputs, targets = tokens[:, :-1], tokens[:, 1:].reshape(-1)
    return lambda network: nn.functional.cross_entropy(network(inputs).reshape(-1, 50), targets)


def images_step() -> Step:
    images, labels = (
        torch.randn(16, 3, 16, 16).contiguous(memory_format=torch.channels_last),
        torch.arange(16) % 10,
    )
    return lambda network: nn.functional.cross_entropy(network(images), labels)


def vectors_step(batch: int = 128) -> Step:
    inputs, labels = torch.randn(batch, 64), torch.arange(batch) % 10
    return lambda network: nn.functional.cross_entropy(network(inputs), labels)


def trained(
    network: nn.Module,
    step: Step,
    around: Callable[[], AbstractContextManager[object]] = nullcontext,
    bfloat16: bool = False,
    iterations: int = 2,
) -> list[Tensor]:
    """The losses, gradients, parameters and buffers of a copy of the network after some iterations."""
    network = copy.deepcopy(network)
    losses = []
    torch.manual_seed(5)  # of the dropouts
    for _ in range(iterations):
        network.zero_grad()
        with around(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            loss = step(network)
        loss.backward()
        losses.append(loss.detach())
        with torch.no_grad():  # the import of an optimizer takes longer than all steps
            for parameter in network.parameters():
                if parameter.grad is not None:
                    parameter -= 0.1 * parameter.grad
    gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
    return [*losses, *gradients, *network.state_dict().values()]


def same(ours: list[Tensor], theirs: list[Tensor]) -> bool:
    """Whether all tensors are equal to the last bit."""
    return len(ours) == len(theirs) and all(map(same_bits, ours, theirs))


def same_bits(a: Tensor, b: Tensor) -> bool:
    a, b = a.detach().contiguous(), b.detach().contiguous()
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.reshape(-1).view(torch.uint8).equal(b.reshape(-1).view(torch.uint8))
