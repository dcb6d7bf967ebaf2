"""Mistakes of some ranks: each rank says the same, and none waits."""

import re

from tests.torch.ranks.pool import run
from tests.torch.ranks.scenarios import refusals

SAID = {
    "preset": "RankError: rank 1 has the preset tiny_ecc, rank 0 has tiny; expected the same on all ranks",
    "configuration": r"RankError: rank 1 has a configuration of it with the checksum \d+, rank 0 has .*",
    "node": "RankError: rank 1 has the node mine, rank 0 has update; expected the same on all ranks",
    "kind": "RankError: rank 1 has the optimizer Adam, rank 0 has AdamW; expected .*",
    "format": "RankError: rank 1 has gradient_format BF16, rank 0 has None; expected .*",
    "option": "RankError: rank 1: ParameterError: group 0 has amsgrad=True; AdamW on the dies .*",
    "commits": "ParameterError: commits is a PinEveryCommit; expected none with several ranks, .*",
    "journal": "RankError: all ranks: JournalMissing: node 'bare' has no journal, which records .*",
    "replicas": "RankError: rank 1 has plain parameters with the checksum .*",
    "parts": "RankError: rank 1 has parameters .*; or own_parameters=True, as of ZeroRedundancyOptimizer .*",
    "own parameters": "RankError: rank 1 has own_parameters True, rank 0 has False; expected .*",
    "overlap": "ParameterError: overlap=True with plain tensors on 2 ranks, which join their gradients .*",
    "matrix early": "RankError: all ranks: ParameterError: .*; expected overlap=False, or whole .*",
    "own matrix": "RankError: all ranks: ParameterError: .*; expected own_parameters=False, or whole .*",
    "rows": r"RankError: rank 1: ParameterError: .* of float32\[1, 4\], of which this rank has nothing;.*",
    "mesh": "RankError: all ranks: ParameterError: parameter 0 of group 0 is on a mesh of 1 ranks; .*, or .*",
    "nothing": r"StateMissing: the ranks hold no common generation \(rank 0: none; rank 1: none\);.*",
    "one device": r"RankError: rank [01]: ImageLocked: .*same\.img: another device has it open; expected .*",
    "no checkpoint": "RankError: all ranks: NoCheckpoint: no generation is pinned as checkpoint .*",
    "gradient": "RankError: rank 1: HyperparameterError: learning_rate is -1.0; expected .*",
    "wear": r"RankError: rank 1: WearBudgetExceeded: \d+ of 50,000 program/erase cycles are used; at .*",
    "swapped": "RankError: rank 0: StateMissing: the dies hold the state of rank 1 of 2; expected rank 0 .*",
    "generation": r"StateMissing: the ranks hold no common generation \(rank 0: generation 5 of run \w+, .*",
}


def test_refusals(tmp_path):
    first, second = run(2, refusals, str(tmp_path))
    assert first == second and first.keys() == SAID.keys()
    for name, said in first.items():
        assert re.fullmatch(SAID[name], said), said
