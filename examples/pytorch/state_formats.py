"""The transformer of gpt.py learns with each format of weights and optimizer state on the dies.

    python examples/pytorch/state_formats.py [steps] [seeds]

For each seed, each row trains from the same weights and on the same batches. A column has the mean loss of
the steps since the column before. state_formats.txt has the output.
"""

from argparse import ArgumentParser
from dataclasses import replace

import torch
from gpt import Transformer, batches, loss_of, samples

from flashtrain.cli.command import at_least_one
from flashtrain.host import open_device
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.torch import AdamW, Rounding

DEVICE = replace(preset("small"), name="small_fp8", fp8_state=True)
HALF, EIGHT, STOCHASTIC = torch.bfloat16, torch.float8_e4m3fn, Rounding.STOCHASTIC
ROWS = {
    "w32_s32": {},
    "w32_s16 nearest": {"state_dtype": HALF},
    "w32_s16 stochastic": {"state_dtype": HALF, "rounding": STOCHASTIC},
    "w16_s16 nearest": {"weight_dtype": HALF, "state_dtype": HALF},
    "w16_s16 stochastic": {"weight_dtype": HALF, "state_dtype": HALF, "rounding": STOCHASTIC},
    "w32_s8 nearest": {"state_dtype": EIGHT},
    "w32_s8 stochastic": {"state_dtype": EIGHT, "rounding": STOCHASTIC},
    "w16_s8 nearest": {"weight_dtype": HALF, "state_dtype": EIGHT},
    "w16_s8 stochastic": {"weight_dtype": HALF, "state_dtype": EIGHT, "rounding": STOCHASTIC},
}
COLUMNS = 8


def losses(data: torch.Tensor, steps: int, seed: int, options: dict) -> torch.Tensor:
    """The loss of each step."""
    torch.manual_seed(seed)
    model, found = Transformer(int(data.max()) + 1), []
    with open_device(DEVICE, node=UPDATE_NODE) as device:
        optimizer = AdamW(model.parameters(), lr=1e-3, device=device, seed=seed, **options)
        for batch in batches(data, steps):
            loss = loss_of(model, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(loss.item())
    return torch.tensor(found)


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("steps", nargs="?", type=at_least_one, default=400)
    parser.add_argument("seeds", nargs="?", type=at_least_one, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)  # sums, and so losses, depend on the number of threads
    data, each = samples(), max(1, options.steps // COLUMNS)
    ends = list(range(each, options.steps + 1, each))
    print(f"{'row':20}  seed  " + "  ".join(f"{end:6}" for end in ends))
    for seed in range(1, options.seeds + 1):
        for name, stored in ROWS.items():
            means = losses(data, options.steps, seed, stored)[: ends[-1]].unflatten(0, (-1, each)).mean(1)
            print(f"{name:20}  {seed:4}  " + "  ".join(f"{mean:6.3f}" for mean in means.tolist()), flush=True)


if __name__ == "__main__":
    main()
