"""Whole iterations of a training: their rate beside what arrays, buses and update units could do at most."""

from dataclasses import dataclass

from flashtrain.host import Device
from flashtrain.host.state.tiling import TileLayout
from flashtrain.spec import FmsConfig
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.registers import Counter
from flashtrain.spec.update import Tile
from flashtrain.training.flash_training import replay
from flashtrain.training.tensors import DeviceStorage

from .array_work import ArrayRecorder
from .iteration_sequence import FRACTION, INPUT_FRACTION, PROGRAM, iteration_sequence
from .measurement import Measurement

ASKED = 0.9
ERASES_ASKED = 1.05
"""Erases per byte at most, relative to those of full zones."""
SETTLE = 2
"""Iterations before the steady state."""
ROUNDS = 2
"""Zones of activations that are filled in the steady state."""


def tile_of(config: FmsConfig) -> Tile:
    return Tile.of(config.geometry, PROGRAM, GradientFormat.FP32, CopyFormat.NONE)


@dataclass(frozen=True)
class IterationBound:
    """Least cycles of an iteration of `iteration_sequence`, by the part of the device that needs them.

    Each part works all the time, and its work is the same on all dies or channels.

    - `arrays`: each page set that is appended or updated is programmed. Tiles are sensed for the update, and
      their planes of weights for both passes. A zone of bytes costs an erase. Activations and inputs are not
      sensed, since they may be read from write buffers.
    - `buses`: inputs and activations in both directions, weights twice, and gradients.
    - `units`: the update units, a parameter every `update_interval` cycles of their clock.
    """

    arrays: float
    buses: float
    units: float

    @classmethod
    def on(cls, config: FmsConfig) -> "IterationBound":
        g, t = config.geometry, config.timing
        tile = tile_of(config)
        dies, zone_sets = g.channels * g.dies, g.pages * g.channels * g.dies
        activations, inputs = zone_sets / FRACTION, zone_sets / INPUT_FRACTION
        programmed = zone_sets + activations + inputs
        arrays = (
            programmed * t.cycles("tprog")
            + 3 * zone_sets * t.cycles("tr")
            + programmed / zone_sets * dies * t.cycles("tbers")
        )
        weight_pages = len(TileLayout(tile, tile.parameters).planes_of(0))
        pages = 2 * g.planes * (activations + inputs) + zone_sets * (2 * weight_pages + tile.gradient_pages)
        bytes_per_cycle = config.channel_bytes_per_second / t.clock_hz
        units = zone_sets * tile.parameters * config.update_interval * config.update_divider
        return cls(arrays / dies, pages * g.page_bytes / bytes_per_cycle, units / dies)

    @property
    def cycles(self) -> float:
        return max(self.arrays, self.buses, self.units)

    @property
    def part(self) -> str:
        """The part that needs the most."""
        return max(("arrays", "buses", "units"), key=lambda name: getattr(self, name))


def training_iteration(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Iterations per second of a training whose activations fill a quarter of a zone.

    Computing takes no time. All data are checked when they come back. Erases of the steady state are counted
    beside the bytes that were appended or updated in it, so many zones of activations.
    """
    config, clock_hz = device.config, device.config.timing.clock_hz
    sequence = iteration_sequence(config, tile_of(config))
    iterations = FRACTION * (1 if quick else ROUNDS)
    marks: dict[int, tuple[int, int]] = {}  # cycles and erases after an iteration

    def note(iteration: int) -> None:
        if iteration == SETTLE + iterations:
            recorder.stop()
        if iteration in (SETTLE, SETTLE + iterations):
            marks[iteration] = (device.cycles, device.counters()[Counter.ERASES.name])
        if iteration == SETTLE:
            recorder.start()

    replay(sequence, SETTLE + iterations, DeviceStorage.on(device), on_iteration=note)
    (begin, erases_before), (end, erases_after) = marks[SETTLE], marks[SETTLE + iterations]
    bound = IterationBound.on(config)
    value = iterations / (end - begin) * clock_hz
    limit = clock_hz / bound.cycles
    zones = iterations * (1 + 1 / FRACTION + 1 / INPUT_FRACTION)
    erases = (erases_after - erases_before) / zones
    return Measurement(
        value=value,
        unit="1/s",
        bound=limit,
        cycles=end - begin,
        asked=f"{ASKED:.0%} of the bound, at most {ERASES_ASKED} times the erases per byte of full zones",
        met=value >= ASKED * limit and erases <= ERASES_ASKED,
        note=f"the {bound.part} bound it; {iterations} iterations of {(end - begin) / iterations:,.0f} cycles"
        f" each; {erases_after - erases_before} erases, {erases:.3f} times those of full zones per byte",
    )
