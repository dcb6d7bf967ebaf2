"""ShuffleNet of torchvision learns handwritten digits, with its activations in the window code on the flash.

    python examples/pytorch/images.py [functional|model|rtl] [steps]

It trains twice: in memory, and then with weights, momentum, activations and images on the flash. The two
functions show what the flash adds. images.txt has the output on the RTL.
`pip install 'flashtrain[torch,networks]'` brings what it takes.
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from copy import deepcopy

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

from flashtrain.cli.command import at_least_one
from flashtrain.cli.links import LINKS
from flashtrain.host import Device, open_device
from flashtrain.spec.streams import UPDATE_NODE, Codec
from flashtrain.torch import SGD, FlashDataset, OffloadActivations
from flashtrain.torch.networks.definitions import definitions

BATCH, SIDE = 64, 32
RATE = {"lr": 0.05, "momentum": 0.9}


def samples() -> tuple[torch.Tensor, torch.Tensor]:
    """Images of three channels, which the network expects, and their digits."""
    digits = load_digits()
    images = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None]
    return functional.interpolate(images, (SIDE, SIDE), mode="bilinear").expand(-1, 3, -1, -1), torch.tensor(
        digits.target
    )


def batches(data, steps: int) -> Iterator[list[torch.Tensor]]:
    """The same for both trainings."""
    order = RandomSampler(data, num_samples=steps * BATCH, generator=torch.Generator().manual_seed(1))
    return iter(DataLoader(data, BATCH, sampler=order))


def train_in_memory(model: nn.Module, data: TensorDataset, steps: int) -> Iterator[float]:
    optimizer = torch.optim.SGD(model.parameters(), **RATE)
    for images, digits in batches(data, steps):
        loss = functional.cross_entropy(model(images), digits)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def train_on_flash(
    model: nn.Module, data: TensorDataset, steps: int, device: Device, activations: OffloadActivations
) -> Iterator[float]:
    optimizer = SGD(model.parameters(), **RATE, device=device)
    for images, digits in batches(FlashDataset(data, device), steps):
        with activations:
            loss = functional.cross_entropy(model(images), digits)
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
    data = TensorDataset(*samples())
    # As `from torchvision import models`, which fails beside a CPU build of PyTorch.
    model = definitions("torchvision.models").shufflenet_v2_x0_5(num_classes=10)
    parameters = 4 * sum(parameter.numel() for parameter in model.parameters())
    print(f"{parameters // 4:,} parameters, {len(data):,} images\n\nstep  in memory  on flash")
    node = UPDATE_NODE.with_codecs(activations=Codec.WINDOW32)
    with open_device("small_codec", link, node) as device:
        activations = OffloadActivations(device, memory_bytes=3 << 20)
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
        ("momentum", parameters, 0),
        ("weights and gradients", 2 * parameters, 2 * parameters),
        ("images", data.tensors[0].nbytes, 0),
    ):
        print(f"{name:25}{without:13,}{with_flash:13,}")
    total = report.total
    print(
        f"\n{total.written_bytes:,} bytes of activations written, in {total.stored_bytes:,} of flash;"
        f" {total.read_bytes:,} read"
    )
    if cycles:  # the functional model has no time
        milliseconds = cycles / (1000 * device.config.timing.clock_mhz)
        print(f"{cycles:,} cycles simulated, {milliseconds / steps:.1f} ms a step")


if __name__ == "__main__":
    main()
