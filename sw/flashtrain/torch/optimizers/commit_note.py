"""The note of a commit: all that a new optimizer needs to go on with the generation on the dies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from zlib import crc32

from torch import Tensor

from flashtrain.checkpoint import CheckpointDamaged
from flashtrain.checkpoint.host_state.plain_values import packed, unpacked
from flashtrain.checkpoint.pins.pin_note import PinNote
from flashtrain.host import StateMissing, TensorGroup
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.state_format import Rounding, StateFormat
from flashtrain.torch.ranks.ranks import RankPlace
from flashtrain.torch.ranks.shards import shard
from flashtrain.torch.tensor_names import described
from flashtrain.training.errors import ParameterError

from .cell import Cell
from .formats import Formats
from .storage import PLAIN, Storage

VERSION = 1

_OPTIONS = (type(None), bool, int, float, str)


class CellNote(NamedTuple):
    """A cell; `codes`: of its regions; `parameters`: numbers of them, counted through all groups."""

    group: int
    codes: tuple[OptimizerCode, ...]
    formats: Formats
    steps: int
    parameters: tuple[int, ...]

    def cell(self, members: Sequence[Tensor]) -> Cell:
        """The cell of these parameters, all of the optimizer."""
        own = tuple(members[number] for number in self.parameters)
        return Cell(self.group, own, self.formats, self.steps)


@dataclass(frozen=True)
class CommitNote:
    """Facts about a generation that the dies do not hold.

    Members
    -------
    cells: in the order of their place on the dies.
    model: a checksum of the dtypes and shapes of all parameters, by group.
    options: hyperparameters and other plain options by group; None before the first step.
    host: the host's state, as its user gave it.
    place: the place of the generation among those of several ranks; None in a training of one process.
    """

    cells: tuple[CellNote, ...]
    model: int
    options: list[dict[str, Any]] | None
    host: bytes
    place: RankPlace | None

    @classmethod
    def of(
        cls,
        param_groups: Sequence[Mapping[str, Any]],
        cells: Sequence[Cell],
        tensors: Sequence[Sequence[TensorGroup]],
        stepped: bool,
        host: bytes,
        place: RankPlace | None,
    ) -> "CommitNote":
        """The note of these cells, of a step or before any. tensors: the regions of each cell on the dies."""
        numbers = {p: number for number, p in enumerate(members_of(param_groups))}
        noted = tuple(
            CellNote(
                cell.group,
                tuple(region.code for region in regions),
                cell.formats,
                cell.steps,
                tuple(numbers[p] for p in cell.parameters),
            )
            for cell, regions in zip(cells, tensors, strict=True)
        )
        options = [_plain_options(group) for group in param_groups] if stepped else None
        return cls(noted, _checksum(param_groups), options, host, place)

    def pack(self) -> bytes:
        cells = [
            [cell.group, _packed_codes(cell.codes), int(cell.formats.gradient), int(cell.formats.copy),
             cell.steps, [list(run) for run in _runs(cell.parameters)],
             *_packed_storage(cell.formats.storage)]
            for cell in self.cells
        ]  # fmt: skip
        place = [] if self.place is None else [list(self.place)]
        return packed([VERSION, cells, self.model, self.options, self.host, *place])

    @classmethod
    def unpack(cls, raw: bytes) -> "CommitNote":
        """The note, also of a generation that is a checkpoint; :class:`StateMissing` for that of another
        user."""
        pin = PinNote.unpack(raw)
        try:
            version, *rest = unpacked(raw if pin is None else pin.host)
            if version != VERSION:
                raise StateMissing(
                    f"the state on the dies has a note of version {version}; expected {VERSION}"
                )
            cells, model, options, host, *place = rest
            noted = tuple(_cell_note(*fields) for fields in cells)
            placed = RankPlace(*place[0]) if place else None
        except (CheckpointDamaged, ValueError, TypeError) as error:
            raise StateMissing(
                f"the state on the dies is not that of an optimizer of PyTorch: {error}"
            ) from error
        return cls(noted, model, options, host, placed)

    def require_model(self, param_groups: Sequence[Mapping[str, Any]]) -> None:
        """:class:`ParameterError` unless these are parameters of the same dtypes and shapes."""
        if self.model != _checksum(param_groups):
            count = len(members_of(param_groups))
            raise ParameterError(
                f"the state on the dies is not of these {count} parameters in {len(param_groups)} groups; "
                "expected the same dtypes and shapes in the same groups"
            )

    def set_options(self, param_groups: Sequence[dict[str, Any]]) -> None:
        """Give the groups their options at the commit."""
        for own, options in zip(param_groups, self.options or (), strict=False):
            for name, value in options.items():
                if isinstance(own.get(name), Tensor):
                    own[name].fill_(value)
                else:
                    own[name] = value


def members_of(param_groups: Sequence[Mapping[str, Any]]) -> list[Tensor]:
    """The parameters of all groups."""
    return [parameter for group in param_groups for parameter in group["params"]]


def _checksum(param_groups: Sequence[Mapping[str, Any]]) -> int:
    return crc32(
        "|".join(" ".join(described(shard(p)) for p in group["params"]) for group in param_groups).encode()
    )


def _plain_options(group: Mapping[str, Any]) -> dict[str, Any]:
    """Options that may change as training runs; others are as the optimizer was made with."""
    options = {}
    for name, value in group.items():
        number = value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
        items = number if isinstance(number, tuple) else (number,)
        if name != "param_names" and all(type(item) in _OPTIONS for item in items):
            options[name] = number
    return options


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The numbers as runs of consecutive ones: the first of each, and how many, negative if they descend."""
    begin = 0
    while begin < len(numbers):
        end = begin + 1
        step = 1 if end == len(numbers) or numbers[end] != numbers[begin] - 1 else -1
        while end < len(numbers) and numbers[end] == numbers[end - 1] + step:
            end += 1
        yield numbers[begin], step * (end - begin)
        begin = end


def _numbers(first: int, count: int) -> range:
    """The numbers of a run."""
    return range(first, first + count, 1 if count > 0 else -1)


def _packed_codes(codes: Sequence[OptimizerCode]) -> int | list[int]:
    """The codes of a cell's regions; of one region its code itself, as in notes before there were several."""
    return int(codes[0]) if len(codes) == 1 else [int(code) for code in codes]


def _packed_storage(storage: Storage) -> list[list[int]]:
    """The storage of a cell; nothing for float32, as in notes before there were other formats."""
    if storage == PLAIN:
        return []
    return [[int(storage.weight), int(storage.state), int(storage.rounding), storage.seed]]


def _cell_note(
    group: int,
    codes: int | Sequence[int],
    gradient: int,
    copy: int,
    steps: int,
    runs: Sequence[tuple[int, int]],
    storage: Sequence[int] = (),
) -> CellNote:
    stored = PLAIN
    if storage:
        weight, state, rounding, seed = storage
        stored = Storage(StateFormat(weight), StateFormat(state), Rounding(rounding), seed)
    formats = Formats(GradientFormat(gradient), CopyFormat(copy), stored)
    numbers = tuple(number for first, count in runs for number in _numbers(first, count))
    of_regions = (codes,) if isinstance(codes, int) else codes
    return CellNote(group, tuple(OptimizerCode(code) for code in of_regions), formats, steps, numbers)
