"""`make board`: the bitstream of a board, with its clock and its resources.

    python -m flashtrain.sim.board.bitstream [FOLDER]

The exit code is 1 if the clock is not reached.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from flashtrain.native.build_cache import BUILD, build_once, content_key
from flashtrain.rtl.board.chip_pins import BoardPins
from flashtrain.sim.board.pads import Pads, add_pads, ulx3s_pads
from flashtrain.sim.synthesis import tools
from flashtrain.sim.synthesis.placement import DEVICE, placeable
from flashtrain.spec.boards import ULX3S, Board
from flashtrain.writing import replacing

SEED = 1
"""Of the placer."""

_RESOURCES = {
    "look-up tables": "TRELLIS_COMB",
    "registers": "TRELLIS_FF",
    "block memories": "DP16KD",
    "multipliers": "MULT18X18D",
    "pads": "TRELLIS_IO",
}


@dataclass(frozen=True)
class Bitstream:
    """A board's design as it was routed.

    clock_mhz: that it reaches. resources: used and available, by name.
    """

    board: Board
    content: bytes
    clock_mhz: float
    resources: dict[str, tuple[int, int]]

    @property
    def in_time(self) -> bool:
        return self.clock_mhz >= self.board.config.timing.clock_mhz

    def text(self) -> str:
        """The lines of `make board`."""
        needed = self.board.config.timing.clock_mhz
        lines = [f"clock           {self.clock_mhz:.1f} MHz, needed {needed} MHz"]
        for name, (used, available) in self.resources.items():
            lines.append(f"{name:<15} {used:,} of {available:,} ({used / available:.0%})")
        return "\n".join(lines)


def bitstream(board: Board, pads: Pads) -> Bitstream:
    """Synthesise, place, route and pack a board. Raises `ToolError` if a tool is missing or fails."""
    name = f"board_{board.config.name}"
    netlist, _ = placeable(BoardPins(board), name)
    add_pads(netlist["modules"][name], pads, board.config.timing.clock_mhz)
    text, constraints = json.dumps(netlist), pads.constraints()
    place, pack = tools.nextpnr(), tools.ecppack()
    options = [*DEVICE, "--seed", str(SEED), "--timing-allow-fail"]
    key = content_key(text, constraints, tools.version(place), *options)
    folder = (BUILD / "synthesis" / f"{name}-{key}").resolve()

    def build() -> None:
        (folder / "netlist.json").write_text(text, encoding="utf-8")
        (folder / "pins.lpf").write_text(constraints, encoding="utf-8")
        files = ["--json", "netlist.json", "--lpf", "pins.lpf", "--report", "report.json"]
        tools.run([*place, *options, *files, "--textcfg", "routed.config"], folder, "routed.config")
        tools.run([*pack, "--compress", "routed.config", "board.bit"], folder, "board.bit")

    build_once(folder, build)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    used = report["utilization"]
    return Bitstream(
        board,
        (folder / "board.bit").read_bytes(),
        min(clock["achieved"] for clock in report["fmax"].values()),
        {what: (used[cell]["used"], used[cell]["available"]) for what, cell in _RESOURCES.items()},
    )


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else BUILD / "board"
    made = bitstream(ULX3S, ulx3s_pads())
    path = folder / f"{ULX3S.config.name}.bit"
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(path, binary=True) as file:
        file.write(made.content)
    print(made.text())
    print(f"bitstream       {path}, {len(made.content):,} bytes")
    if not made.in_time:
        print("the clock is not reached", file=sys.stderr)
    return 0 if made.in_time else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
