"""Once through the RTL of `small`: a data set in the flash, mixed precision, AdamW on the dies."""

from functools import partial

import pytest
import torch
from torch.utils.data import DataLoader

from flashtrain.host import FunctionalLink, open_device
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import AdamW, FlashDataset, ResumableSampler, Rounding
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


VOCABULARY, TOKENS, WIDTH = 256, 32, 160


class Transformer(torch.nn.Module):
    """Three blocks; 1,010,016 parameters."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        block = torch.nn.TransformerEncoderLayer(
            WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.blocks = torch.nn.TransformerEncoder(block, 3, enable_nested_tensor=False)
        self.logits = torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.logits(self.blocks(self.embedding(tokens), mask, is_causal=True))


def train_transformer(link, cuts):
    """Losses and weights of four steps with state in BF16; a loss of power follows those in `cuts`."""
    torch.manual_seed(7)
    model = Transformer()
    made = partial(
        AdamW, list(model.parameters()), lr=1e-3, max_norm=1.0, weight_dtype=torch.bfloat16,
        state_dtype=torch.bfloat16, rounding=Rounding.STOCHASTIC, seed=3,
    )  # fmt: skip
    losses = []
    with open_device("small", link, node=UPDATE_NODE, memory_bytes=64 << 20) as device:
        optimizer = made(device=device)
        for step in range(4):
            random = torch.Generator().manual_seed(step)
            tokens = torch.randint(VOCABULARY, (2, TOKENS + 1), generator=random)
            optimizer.zero_grad()
            logits = model(tokens[:, :-1]).reshape(-1, VOCABULARY)
            loss = torch.nn.functional.cross_entropy(logits, tokens[:, 1:].reshape(-1))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if step in cuts:
                device.link.power_cycle()
                device.recover()
                for parameter in model.parameters():
                    parameter.data.fill_(torch.nan)
                optimizer = made(device=device, recovered=True)
    return losses, [bits(parameter) for parameter in model.parameters()]


@pytest.mark.long
def test_a_transformer_of_a_million_parameters_goes_on_after_losses_of_power():
    """Stochastically rounded: on the RTL to the bits of the functional Link, which was not cut."""
    assert sum(p.numel() for p in Transformer().parameters()) == 1_010_016
    losses, weights = train_transformer(FunctionalLink, ())
    assert train_transformer(RtlLink, (1, 2)) == (losses, weights)
