"""A transformer of a million parameters learns the text of Python's language reference.

    python examples/pytorch/gpt.py [functional|model|rtl] [steps]

It trains twice: in memory, and then with weights, optimizer state, activations and text on the flash. The two
functions show what the flash adds. gpt.txt has the output on the RTL.
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from copy import deepcopy
from pydoc_data.topics import topics

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, RandomSampler

from flashtrain.cli.command import at_least_one
from flashtrain.cli.links import LINKS
from flashtrain.host import Device, open_device
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import AdamW, FlashDataset, OffloadActivations

WIDTH, HEADS, LAYERS, CONTEXT, BATCH = 128, 4, 5, 64, 8


class Block(nn.Module):
    """A layer of a transformer, as in GPT-2: attention and a perceptron, each on normalised inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_perceptron = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.projection = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.perceptron = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.qkv(self.before_attention(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.projection(attended.transpose(1, 2).flatten(-2))
        return x + self.perceptron(self.before_perceptron(x))


class Transformer(nn.Module):
    """Characters in, the logits of the next ones out."""

    def __init__(self, characters: int) -> None:
        super().__init__()
        self.character, self.place = nn.Embedding(characters, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.out = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, characters))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.blocks(self.character(x) + self.place.weight))


def samples() -> torch.Tensor:
    """Pieces of the text, as numbers of characters; every Python has it."""
    text = "\n".join(topics[name] for name in sorted(topics))
    number = {character: i for i, character in enumerate(sorted(set(text)))}
    numbers = torch.tensor([number[character] for character in text], dtype=torch.uint8)
    return numbers.unfold(0, CONTEXT + 1, CONTEXT)


def batches(data, steps: int) -> Iterator[torch.Tensor]:
    """The same for both trainings."""
    order = RandomSampler(data, num_samples=steps * BATCH, generator=torch.Generator().manual_seed(1))
    for batch in DataLoader(data, BATCH, sampler=order):
        yield batch.long()


def loss_of(model: nn.Module, batch: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())


def train_in_memory(model: nn.Module, data: torch.Tensor, steps: int) -> Iterator[float]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for batch in batches(data, steps):
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def train_on_flash(
    model: nn.Module, data: torch.Tensor, steps: int, device: Device, activations: OffloadActivations
) -> Iterator[float]:
    stored = FlashDataset(data, device)
    optimizer = AdamW(model.parameters(), lr=1e-3, device=device)
    for batch in batches(stored, steps):
        with activations:
            loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("link", nargs="?", choices=list(LINKS), default="functional")
    parser.add_argument("steps", nargs="?", type=at_least_one, default=20)
    options = parser.parse_args()
    link, steps = LINKS[options.link].factory, options.steps
    torch.manual_seed(1)
    data = samples()
    model = Transformer(int(data.max()) + 1)
    parameters = 4 * sum(parameter.numel() for parameter in model.parameters())
    print(f"{parameters // 4:,} parameters, {data.untyped_storage().nbytes():,} characters\n")
    print("step  in memory  on flash")
    with open_device("small", link, UPDATE_NODE) as device:
        activations = OffloadActivations(device, memory_bytes=4 << 20)
        losses = zip(
            train_in_memory(deepcopy(model), data, steps),
            train_on_flash(model, data, steps, device, activations),
            strict=True,
        )
        for step, (in_memory, on_flash) in enumerate(losses, 1):
            print(f"{step:4}  {in_memory:9.5f}  {on_flash:8.5f}", flush=True)
        report, cycles = activations.report(), device.cycles
    print(f"\n{'bytes of memory':25}{'without flash':>13}{'with flash':>13}")
    for name, without, with_flash in (
        ("activations, at most", report.total.saved_bytes // steps, report.peak_bytes),
        ("optimizer state", 2 * parameters, 0),
        ("weights and gradients", 2 * parameters, 2 * parameters),
        ("text", data.untyped_storage().nbytes(), 0),
    ):
        print(f"{name:25}{without:13,}{with_flash:13,}")
    print(f"\n{report.total.written_bytes:,} bytes of activations written, {report.total.read_bytes:,} read")
    if cycles:  # the functional model has no time
        milliseconds = cycles / (1000 * device.config.timing.clock_mhz)
        print(f"{cycles:,} cycles simulated, {milliseconds / steps:.1f} ms a step")


if __name__ == "__main__":
    main()
