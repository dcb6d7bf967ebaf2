"""`FlashOptimizer`: an optimizer as `torch.optim` has them, whose steps happen on the dies of a device."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from flashtrain.host import Device, Generation, OptimizerState, TensorGroup, TensorMismatch
from flashtrain.host.device import STATE_STREAMS
from flashtrain.numerics import Totals, copy_of, gradient_values, gradients_in
from flashtrain.spec import Port
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input
from flashtrain.training.arrays import Array, FloatArray
from flashtrain.training.checked_state import CheckedState
from flashtrain.training.commits import PLAIN, Commits
from flashtrain.training.die_step import GradientReport, take_step
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.parameters import (
    PARAMS,
    Parameter,
    ParamGroup,
    Params,
    gradients_of,
    make_groups,
    require_unchanged_layout,
    with_hyperparameters,
)

_STATE = {"w": Input.W, "m": Input.M, "v": Input.V}


class FlashOptimizer:
    """Weights and optimizer state of some parameters on the dies of `device`; gradients go in.

    params: float32 arrays or :class:`Parameter`, or dictionaries with `"params"` and hyperparameters of their
    own; optimizer: kind and default hyperparameters of the step; gradient_format: in which gradients are sent
    (float32 ones are rounded to it); copy_format: 16-bit weights come back with every step instead of float32
    ones being read; streams, port: see :meth:`Device.optimizer_state`; recovered: go on with the weights and
    state that the dies held when the power failed, of the same parameters and optimizer; commits: how steps
    end, such as by a checkpoint (`flashtrain.checkpoint.PinEveryCommit`).

    The float32 weights live on the dies. After a step `data` of each parameter holds them, or their 16-bit
    copies as float32 numbers. Hyperparameters are read from `param_groups` at each step. A step that raises
    an exception has changed nothing.

    Members
    -------
    host_state: gives the state of the host, as bytes, that becomes durable with the next commit.
    """

    def __init__(
        self,
        params: Params,
        optimizer: Optimizer,
        device: Device,
        gradient_format: GradientFormat = GradientFormat.FP32,
        copy_format: CopyFormat = CopyFormat.NONE,
        streams: Iterable[str] = STATE_STREAMS,
        port: Port = Port.CORE,
        recovered: bool = False,
        commits: Commits = PLAIN,
    ) -> None:
        self.host_state: Callable[[], bytes] = bytes
        self._commits = commits
        self.param_groups: list[ParamGroup] = make_groups(params, optimizer)
        self._optimizer = optimizer
        self._gradient_format = gradient_format
        self._state = device.optimizer_state(
            (
                TensorGroup(
                    optimizer.code, tuple(p.data.shape for p in group[PARAMS]), gradient_format, copy_format
                )
                for group in self.param_groups
            ),
            streams,
            port,
            recovered,
        )
        self._copies: list[list[Array] | None] = []
        self._copy_format = copy_format
        self._shapes = [parameter.data.shape for parameter in self._parameters]
        if recovered:
            self._set_data(self._as_after_steps(self.weights()))
        else:
            weights = [[p.data for p in group[PARAMS]] for group in self.param_groups]
            first = [[optimizer.initial_state(w) for w in group] for group in weights]
            m, v = (
                [[state[name] for state in group] for group in first]
                if name in optimizer.state_names
                else None
                for name in ("m", "v")
            )
            self._state.initialise(weights, m, v)

    @property
    def steps(self) -> int:
        """Steps that were committed."""
        return self._state.current.updates

    @property
    def state(self) -> OptimizerState:
        """The state on the dies, for stores of checkpoints."""
        return self._state

    @property
    def host(self) -> bytes:
        """The state of the host that was committed with the current weights."""
        return self._commits.host(self._state)

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters."""
        for group in self.param_groups:
            for parameter in group[PARAMS]:
                parameter.grad = None

    def step(
        self,
        gradients: Sequence[Array] | None = None,
        unscale: float = 1.0,
        max_norm: float | None = None,
    ) -> GradientReport:
        """One step, with these gradients (a flat list in the order of the parameters) or the parameters' own.

        unscale: the inverse of the loss scale. max_norm: a larger norm is clipped to it, which takes a second
        update; as in `torch.nn.utils.clip_grad_norm_`. After an overflow nothing is changed, and the report
        says so.
        """
        return take_step(lambda clip: self.update(gradients, unscale, clip), self.commit, self.skip, max_norm)

    def update(
        self, gradients: Sequence[Array] | None = None, unscale: float = 1.0, clip: float = 1.0
    ) -> GradientReport:
        """The first half of a step: compute, and report; then :meth:`commit` or :meth:`skip`."""
        self._require_writable()
        optimizers = self._optimizers()
        constants = [one.constants(self.steps + 1, unscale, clip) for one in optimizers]
        given = gradients_of(self.param_groups, gradients)
        sent = [[self._formatted(g) for g in group] for group in given]
        before = self._state.renewals
        self._copies = self._state.update(sent, constants)
        parts = [die for dies in self._state.statistics for die in dies]
        return GradientReport.of(Totals.of(parts), unscale, renewed=self._state.renewals > before)

    def commit(self) -> Generation:
        """Make the computed weights and state current, and write the new weights to the parameters.

        :class:`ParameterError` when a parameter cannot take them, before anything is changed.
        """
        self._require_writable()
        self._commits.commit(self._state, self.host_state())
        copies = [copy for group in self._copies if group is not None for copy in group]
        self._set_data([gradient_values(copy) for copy in copies] if copies else self.weights())
        return self._state.current

    def skip(self) -> None:
        """Drop what was computed."""
        self._state.skip()

    # Checkpoints.

    def pin(self) -> Generation:
        """Keep the current weights and state, without a copy, until :meth:`release`; see `OptimizerState`."""
        return self._state.pin()

    def release(self, generation: Generation) -> None:
        """Undo :meth:`pin`."""
        self._state.release(generation)

    def weights(self, generation: Generation | None = None) -> list[FloatArray]:
        """The float32 weights of all parameters, of the current or a pinned generation."""
        return [w for group in self._state.read(Input.W, generation) for w in group]

    def evaluated(self, generation: Generation | None = None) -> list[FloatArray]:
        """The float32 weights to evaluate: those of :meth:`weights`, but for `AdamWScheduleFree` averages."""
        w, *arrays = (self._state.read(_STATE[name], generation) for name in self._state_names)
        names = self._optimizer.state_names
        return [
            optimizer.evaluated(own, dict(zip(names, state, strict=True)))
            for number, optimizer in enumerate(self._optimizers())
            for own, *state in zip(w[number], *(array[number] for array in arrays), strict=True)
        ]

    def state_dict(self, generation: Generation | None = None) -> dict[str, Any]:
        """Weights, state and hyperparameters, in the form that `torch.optim` gives them.

        `"state"`: by the number of the parameter, `"step"` and the arrays `"w"`, `"m"`, `"v"` that the
        optimizer has; `"param_groups"`: hyperparameters, and numbers of the parameters.
        """
        names = self._state_names
        arrays = {
            name: [array for group in self._state.read(_STATE[name], generation) for array in group]
            for name in names
        }
        steps = self.steps if generation is None else generation.updates
        count = len(arrays["w"])
        state = {i: {"step": steps} | {name: arrays[name][i] for name in names} for i in range(count)}
        return {"state": state, "param_groups": self._numbered_groups()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Store what :meth:`state_dict` gave, as a first generation, and go on from there.

        The parameters hold what they would after the same number of steps, so that a resumed run has the same
        bits. `"step"` is the same for all parameters: an integer, or a float or an array of one element that
        equals one, as in PyTorch. :class:`ParameterError` or :class:`TensorMismatch` for a malformed
        dictionary, and for one of other parameters, before anything is changed.
        """
        self._require_writable()
        numbered = self._numbered_groups()
        checked = CheckedState.of(state_dict, [group[PARAMS] for group in numbered], self._state_names)
        for index, group in enumerate(checked.groups):
            with_hyperparameters(index, group, self._optimizer)
        by_name = checked.by_name
        self._state.initialise(by_name["w"], by_name.get("m"), by_name.get("v"), checked.step)
        for own, group in zip(self.param_groups, checked.groups, strict=True):
            own.update({name: value for name, value in group.items() if name != PARAMS})
        self._set_data(self._as_after_steps([w for group in by_name["w"] for w in group]))

    # How it is done.

    @property
    def _state_names(self) -> tuple[str, ...]:
        return ("w", *self._optimizer.state_names)

    @property
    def _parameters(self) -> list[Parameter]:
        return [parameter for group in self.param_groups for parameter in group[PARAMS]]

    def _require_writable(self) -> None:
        require_unchanged_layout(self._parameters, self._shapes)

    def _as_after_steps(self, weights: Sequence[FloatArray]) -> Sequence[FloatArray]:
        """The parameters' values for these weights on the dies: after a step, their 16-bit copies."""
        if self._copy_format is CopyFormat.NONE or not self.steps:
            return weights
        copies = (copy_of(w, self._copy_format) for w in weights)
        return [gradient_values(copy) for copy in copies if copy is not None]

    def _optimizers(self) -> list[Optimizer]:
        return [
            with_hyperparameters(index, group, self._optimizer)
            for index, group in enumerate(self.param_groups)
        ]

    def _numbered_groups(self) -> list[dict[str, Any]]:
        """The groups with numbers in the place of parameters."""
        groups, first = [], 0
        for group in self.param_groups:
            count = len(group[PARAMS])
            own = {name: value for name, value in group.items() if name != PARAMS}
            groups.append({PARAMS: list(range(first, first + count))} | own)
            first += count
        return groups

    def _formatted(self, gradient: Array) -> Array:
        if not isinstance(gradient, np.ndarray | np.generic):
            raise TensorMismatch(f"a gradient is {type(gradient).__name__}; expected an array")
        return gradients_in(self._gradient_format, gradient) if gradient.dtype == np.float32 else gradient

    def _set_data(self, weights: Sequence[FloatArray]) -> None:
        for parameter, w in zip(self._parameters, weights, strict=True):
            parameter.data[...] = w
