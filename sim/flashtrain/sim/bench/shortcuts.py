"""Shorter ways through cocotb, for what a bench does in each cycle.

Two thirds of a simulation's time go to cocotb's Python. Its coroutines go on at an edge of the clock, and
look at a pin. The functions on that way are written anew here, with the same results. They write no
messages for debugging, and keep objects instead of making new ones. They save a quarter of a simulation's
time.

cocotb makes a configuration of pytest, with all its plugins, to show the values in assertions that fail. That
takes as long as to import cocotb. pytest's hook needs a name of it, and a place for messages.

The runner has the simulator call `take` before cocotb starts, if it is the version that was read for this.
It does nothing while cocotb debugs.
"""

import os
import shlex
import sys
from collections.abc import Callable
from types import SimpleNamespace

from _pytest.assertion import assertstate_key
from _pytest.assertion.rewrite import AssertionRewritingHook
from cocotb import _event_loop, _gpi_triggers, debug, handle, regression, task
from cocotb._base_triggers import Trigger, TriggerCallback
from cocotb._bridge import run_bridge_threads
from cocotb._profiling import profiling_context
from cocotb.types import Logic

LOGIC = {level: Logic(level) for level in "UX01ZWLH-"}
"""Each value of a bit. cocotb makes one object of each."""

_BITS = {0: LOGIC["0"], 1: LOGIC["1"]}


def take() -> None:
    """Put the functions of this module in the place of cocotb's."""
    if debug.debug:
        return
    Logic.__eq__ = _equal
    handle.LogicObject.get = _level
    handle.LogicObject.value = property(_level, handle.ValueObjectBase.value.fset)
    handle.HierarchyObject.__getattr__ = _child
    # Either is made at its signal, by `__new__`: what is left has nothing to do.
    for edge in (_gpi_triggers.RisingEdge, _gpi_triggers.FallingEdge):
        edge.__init__ = object.__init__
    Trigger._register = _register
    Trigger._do_callbacks = _do_callbacks
    _gpi_triggers.GPITrigger._react = _react
    _event_loop.EventLoop.run = _run
    task.Task._schedule_resume = _schedule_resume
    regression.RegressionManager.setup_pytest_assertion_rewriting = staticmethod(_rewrite_assertions)


_cocotbs_equal = Logic.__eq__


def _equal(self: Logic, other: object) -> bool:
    if self is other:
        return True
    if isinstance(other, int) and other in _BITS:
        return self._repr == _BITS[other]._repr
    return _cocotbs_equal(self, other)


def _level(self: handle.LogicObject) -> Logic:
    return LOGIC[self._handle.get_signal_val_binstr()]


_cocotbs_child = handle.HierarchyObject.__getattr__


def _child(self: handle.HierarchyObject, name: str) -> handle.SimHandleBase:
    """Called for a name that the object does not have; from now on it has it."""
    found = _cocotbs_child(self, name)
    vars(self)[name] = found  # pyright: ignore[reportIndexIssue]
    return found


def _register(self: Trigger, func: Callable[[], object]) -> TriggerCallback:
    callback = TriggerCallback(self, func)
    is_first = not self._callbacks
    self._callbacks[callback] = None
    if is_first:
        self._prime()
    return callback


def _do_callbacks(self: Trigger) -> None:
    callbacks, self._callbacks = self._callbacks, {}
    for callback in callbacks:
        callback._func()


def _react(self: _gpi_triggers.GPITrigger) -> None:
    with profiling_context:
        _gpi_triggers._current_gpi_trigger = self
        self._do_callbacks()
        _event_loop._inst.run()


def _run(self: _event_loop.EventLoop) -> None:
    callbacks = self._callbacks
    while callbacks:
        while callbacks:
            callback = callbacks.popleft()
            if not callback._cancelled:
                callback._func()
        run_bridge_threads()


def _schedule_resume(self: task.Task, exc: BaseException | None = None) -> None:
    self._state = task._TaskState.SCHEDULED
    self._exc = exc
    self._schedule_callback = callback = _event_loop.ScheduledCallback(self._resume)
    _event_loop._inst._callbacks.append(callback)


def _rewrite_assertions() -> None:
    """Assertions of the files that the runner names show the values in them."""
    options = {"python_files": shlex.split(os.environ["COCOTB_REWRITE_ASSERTION_FILES"])}
    state = SimpleNamespace(trace=lambda text: None)
    sys.meta_path.insert(
        0, AssertionRewritingHook(SimpleNamespace(getini=options.get, stash={assertstate_key: state}))
    )
