"""The update units of all dies: constants, statistics, and the step of a tile (`flashtrain.spec.update`)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.numerics import Constants
from flashtrain.numerics.compiled.tiles import STATISTICS, TILE, TilePages, TileStep
from flashtrain.numerics.state_format import StepRounding
from flashtrain.spec import ConfigError, FmsConfig
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.state_format import PLACE_LOW, Rounding, StateFormat, StateFormats
from flashtrain.spec.update import Tile, UpdateHeader, UpdateStatistics
from flashtrain.spec.update_time import TileWork

Bytes = NDArray[np.uint8]

_WORD = (1 << 32) - 1


class _Step(NamedTuple):
    """The step that a valid header describes."""

    work: TileWork
    compute: TileStep

    @classmethod
    def parse(cls, raw: bytes, config: FmsConfig) -> "_Step | None":
        h, entry = UpdateHeader, int.from_bytes(raw, "little")
        try:
            code = OptimizerCode(h.code.get(entry))
            gradient = GradientFormat(h.gradient_format.get(entry))
            copy = CopyFormat(h.copy_format.get(entry))
            formats = StateFormats(
                StateFormat(h.weight_format.get(entry)), StateFormat(h.moment_format.get(entry))
            )
            config.require_formats(formats)
            tile = Tile.of(config.geometry, code, gradient, copy, formats)
        except (ValueError, ConfigError):
            return None
        parameters = h.parameters.get(entry) // tile.multiple * tile.multiple
        if not 1 <= parameters <= tile.parameters:
            return None
        rounding = StepRounding(Rounding(h.rounding.get(entry)), h.rounding_key.get(entry))
        words = tuple(field.get(entry) for field in h.constants)
        constants = Constants.from_words(code, words)
        compute = TileStep(
            constants, tile, parameters, rounding, h.first_zone.get(entry), h.first_page.get(entry)
        )
        return cls(TileWork(tile, parameters, rounding.rounding), compute)


class Dies:
    """All dies of a device, numbered as in SET_CONSTANTS: die * channels + channel.

    An update leaves a tile unchanged if its die has no valid header of a fitting size; the contract leaves
    that case undefined.
    """

    def __init__(self, config: FmsConfig) -> None:
        self._config, self._geometry = config, config.geometry
        geometry = config.geometry
        self._count = geometry.channels * geometry.dies
        self.set_constants(np.zeros((self._count, geometry.page_bytes), np.uint8))

    def set_constants(self, pages: Bytes) -> None:
        """Set each die's header from its page, uint8[dies, page], and reset the statistics."""
        headers = [page[: UpdateHeader.BYTES].tobytes() for page in pages]
        different = list(dict.fromkeys(headers))
        self._steps = [_Step.parse(raw, self._config) for raw in different]
        self._step_of = np.array([different.index(raw) for raw in headers])  # of each die
        self._statistics = np.zeros(self._count, STATISTICS)

    @property
    def work(self) -> TileWork | None:
        """A tile's, by the first die's header; None without one."""
        step = self._steps[self._step_of[0]]
        return None if step is None else step.work

    def statistics(self) -> Bytes:
        """A page of statistics from each die, uint8[dies, page]."""
        pages = np.zeros((self._count, self._geometry.page_bytes), np.uint8)
        for page, own in zip(pages, self._statistics, strict=True):
            s = UpdateStatistics
            value = (
                s.nans.put(int(own["nans"]) & _WORD)
                | s.infinities.put(int(own["infinities"]) & _WORD)
                | s.largest.put(int(own["largest"].view(np.uint32)))
                | s.tiles.put(int(own["tiles"]) & _WORD)
            )
            for field, square in zip(s.squares, own["squares"], strict=True):
                value |= field.put(int(square.view(np.uint32)))
            page[: s.BYTES] = np.frombuffer(value.to_bytes(s.BYTES, "little"), np.uint8)
        return pages

    def update(self, zone: int, first: int, state: Bytes, gradients: Bytes, copy_pages: int) -> None:
        """Compute the step of rows of tiles on all channels, in place.

        The first is row `first` of the device's zone `zone`.

        state: uint8[rows, planes, channels, page]; gradients: uint8[rows, pages, channels, page], of which
        copies take the place of the first `copy_pages` pages of each tile.
        """
        g, pages = self._geometry, (TilePages(state), TilePages(gradients))
        tiles = np.empty((len(state), g.channels), TILE)
        rows = (first + np.arange(len(state)))[:, np.newaxis]
        tiles["die"] = rows % g.dies * g.channels + np.arange(g.channels)
        tiles["zone"] = zone
        page, die, p = rows // g.dies, rows % g.dies, PageIdentity
        place = page << p.page.low | np.arange(g.channels) << p.channel.low | die << p.die.low
        tiles["place"] = place >> PLACE_LOW
        tiles["state"], tiles["gradient"] = (each.offsets for each in pages)
        for number, step in enumerate(self._steps):
            if step is not None and step.work.tile.gradient_pages <= gradients.shape[1]:
                own = tiles[self._step_of[tiles["die"]] == number]
                step.compute.run(own, *pages, copy_pages, self._statistics)
