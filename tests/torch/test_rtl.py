"""Once through the RTL of `small`: a data set in the flash, mixed precision, AdamW on the dies."""

import pytest
import torch
from torch.utils.data import DataLoader

from flashtrain.host import FunctionalLink, open_device
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import AdamW, FlashDataset, ResumableSampler
from tests.torch.compare import bits, network, same, same_state, two


def train(device, model, optimizer, source):
    """Six steps of mixed precision: the third overflows, the last one leaves out a layer."""
    data = source if device is None else FlashDataset(source, device)
    loader = DataLoader(data, batch_size=8, sampler=ResumableSampler(data, seed=2))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for number, (x, y) in enumerate(loader):
        if number == 2:
            x[0, 0] = float("inf")
        model[0].requires_grad_(number < 5)
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
    return scaler.get_scale()


@pytest.mark.early
@pytest.mark.parametrize(
    ("link", "overlap"),
    [(FunctionalLink, False), (ModelLink, False), (ModelLink, True), (RtlLink, False), (RtlLink, True)],
)
def test_as_pytorch(link, overlap, exact_root):
    """Also where steps begin during the backward pass: all but the first, the last one in vain."""
    models = two(network())
    source = [(torch.randn(30), torch.randn(5)) for _ in range(48)]
    with open_device("small", link, node=UPDATE_NODE) as device:
        ours = AdamW(models[0].parameters(), lr=0.01, device=device, overlap=overlap)
        theirs = torch.optim.AdamW(models[1].parameters(), lr=0.01, foreach=False)
        start = [bits(p) for p in models[0].parameters()]
        scales = train(device, models[0], ours, source), train(None, models[1], theirs, source)
        assert scales == (512, 512)
        same(models[0].parameters(), models[1].parameters())
        same_state(ours, theirs)
        assert [bits(p) for p in models[0].parameters()] != start
        assert [int(ours.state[p]["step"]) for p in models[0].parameters()] == [4, 4, 5, 5]
        assert ours.overlaps == ((4, 1) if overlap else (0, 0))
        assert (device.cycles > 0) == (link is not FunctionalLink)
