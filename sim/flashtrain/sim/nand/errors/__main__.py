"""`python -m flashtrain.sim.nand.errors [FIGURE]`: the tables and the figure of docs/errors.md."""

import sys
from pathlib import Path

from flashtrain.spec.presets import BEHEMOTH_ECC

from .presets import SLC
from .report import draw_rates, rate_table


def main(arguments: list[str]) -> None:
    code = BEHEMOTH_ECC.code
    assert code is not None
    print(rate_table(SLC, code))
    for path in arguments:
        draw_rates(SLC, code, Path(path))


if __name__ == "__main__":
    main(sys.argv[1:])
