"""A step on the dies under the backward pass: the part of it that is left behind the pass."""

from collections.abc import Sequence

from flashtrain.host import Device
from flashtrain.spec import FmsConfig
from flashtrain.training.player import play
from flashtrain.training.sequence import Compute, Operation, TrainingSequence, Update
from flashtrain.training.synthetic import SyntheticMachine
from flashtrain.training.tensors import DeviceStorage

from .computing import Computing
from .iteration_sequence import LAYERS, iteration_sequence
from .measurement import Measurement
from .training_iteration import tile_of

ASKED = 0.95
TENSORS = 12 * LAYERS
"""Each layer has as many tensors as one of GPT-2."""
ZONES = 2
_ITERATIONS = 3  # the first ones begin with other zones to be erased


class _Clocked(SyntheticMachine):
    """A machine whose compute steps take their time; `visible`: cycles from the last one to each commit."""

    def __init__(self, sequence: TrainingSequence, device: Device) -> None:
        super().__init__(sequence)
        self._device = device
        self._end_of_pass = 0
        self.visible: list[int] = []

    def pace(self, step: Compute) -> Computing:
        computing = Computing(self._device, step)
        if step.operation is Operation.BACKWARD:
            self._end_of_pass = computing.end
        return computing

    def updated(self, steps: Sequence[Update], committed: bool) -> None:
        super().updated(steps, committed)
        self.visible.append(self._device.cycles - self._end_of_pass)


def _visible(device: Device, overlap: bool, seconds: float) -> int:
    """Cycles of a step behind a backward pass that computes for so long. All data are checked."""
    config = device.config
    sequence = iteration_sequence(config, tile_of(config), TENSORS, ZONES, overlap, seconds)
    machine = _Clocked(sequence, device)
    play(sequence, _ITERATIONS, machine, DeviceStorage.on(device), pace=machine.pace)
    return machine.visible[-1]


def cycles_of_a_tensor(config: FmsConfig) -> float:
    """Least cycles of the update of a tensor: its tiles are sensed and programmed, by all dies together."""
    g, t = config.geometry, config.timing
    return ZONES * g.pages * (t.cycles("tr") + t.cycles("tprog")) / TENSORS


def training_overlap(device: Device, quick: bool = False) -> Measurement:
    """Share of a step that is hidden by a backward pass which computes for as long as the step takes.

    A step of four layers is taken behind the pass, and then each tensor as soon as it has its gradient. The
    gradient of a tensor is there at the end of its computing, so the last one cannot be hidden.
    """
    config, clock_hz = device.config, device.config.timing.clock_hz
    begin = device.cycles
    step = _visible(device, overlap=False, seconds=0.0)
    left = _visible(device, overlap=True, seconds=step / clock_hz)
    hidden = 1 - left / step
    return Measurement(
        value=100 * hidden,
        unit="%",
        bound=100 * (1 - cycles_of_a_tensor(config) / step),
        cycles=device.cycles - begin,
        asked=f"at least {ASKED:.0%}",
        met=hidden >= ASKED,
        note=f"{left / clock_hz * 1e6:,.0f} of the step's {step / clock_hz * 1e6:,.0f} us are behind the"
        f" backward pass; {LAYERS} layers of {TENSORS // LAYERS} tensors, {ZONES} zones of state",
    )
