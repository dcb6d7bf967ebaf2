"""Judgement of a device after a recovery: its data, and whether it works on."""

import numpy as np

from flashtrain.host import CodedStream, Device, OptimizerState, StateMissing, StreamFull
from flashtrain.host.device import STATE_STREAMS
from flashtrain.spec import Access, Persistency, Port
from flashtrain.spec.optimizer import Input
from flashtrain.stress.workload import Expected
from flashtrain.training.sequence import StreamRole

from .lost import Lost
from .remembering import RememberingStorage
from .survival import Survival
from .under_way import judge_below, judge_encoded


def judge(device: Device, storage: RememberingStorage, expected: Expected, survival: Survival) -> None:
    """:class:`Lost` if anything is wrong; `storage` says what was acknowledged when the power failed."""
    for stream in device.node.streams:
        role = next((role for role in StreamRole if role.value == stream.name), None)
        if role is None:
            continue
        if stream.persistency is Persistency.VOLATILE:
            if any(zone.room != zone.capacity for zone in device.stream(stream.name).report()):
                raise Lost(f"stream {stream.name} is volatile, and not empty")
            continue
        reader = device.stream(stream.name, _port(stream.core, Access.READ))
        for handle, array in storage.acknowledged(role):
            found = reader.read(handle)
            if found.tobytes() != array.tobytes():
                wrong = int((found.view(np.uint8).ravel() != array.view(np.uint8).ravel()).sum())
                raise Lost(f"stream {stream.name}: {wrong} of {array.nbytes} bytes at {handle} are wrong")
            survival.tensors += 1
            survival.bytes += array.nbytes
        appended = storage.appended(role)
        if isinstance(reader, CodedStream):
            below = judge_encoded(reader, appended)
        else:
            below = judge_below(reader, appended, device.config.code is not None)
        survival.blocks += below.blocks
        survival.refused += below.refused
        survival.spoilt += below.spoilt
    state, steps = _judge_state(device, storage, expected, survival)
    _work_on(device, state, steps, expected)


def _judge_state(
    device: Device, storage: RememberingStorage, expected: Expected, survival: Survival
) -> tuple[OptimizerState, int]:
    """The state, and after how many steps it is."""
    committed = storage.state.committed if storage.state else None
    try:
        state = device.optimizer_state([expected.group], STATE_STREAMS, Port.CORE, recovered=True)
    except StateMissing:
        if committed is not None:
            raise Lost(f"the state after {committed} steps was committed, and is missing") from None
        survival.none += 1
        state = device.optimizer_state([expected.group], STATE_STREAMS, Port.CORE)
        state.initialise([expected.vectors(Input.W, 0)])
        return state, 0
    steps = state.current.updates
    if steps not in ((0,) if committed is None else (committed, committed + 1)):
        raise Lost(f"the state is that after {steps} steps; {committed} were committed")
    survival.before += steps == committed
    survival.after += steps != committed
    _compare(state, steps, expected)
    return state, steps


def _compare(state: OptimizerState, steps: int, expected: Expected) -> None:
    for which in expected.inputs:
        for number, (found, right) in enumerate(
            zip(state.read(which)[0], expected.vectors(which, steps), strict=True)
        ):
            if found.tobytes() != right.tobytes():
                raise Lost(f"{which.name} of layer {number} after {steps} steps is wrong")


def _work_on(device: Device, state: OptimizerState, steps: int, expected: Expected) -> None:
    """The next step of the training, and something appended to every stream."""
    for generation in state.pinned:
        state.release(generation)
    state.update([expected.gradients(steps)], [expected.constants(steps)])
    state.commit()
    _compare(state, steps + 1, expected)
    data = np.arange(3 * device.config.geometry.page_bytes, dtype=np.uint32).view(np.uint8)
    for stream in device.node.streams:
        if stream.name in STATE_STREAMS or stream is device.node.journal:
            continue
        able = {port: stream.access(port) for port in Port}
        writer = device.stream(stream.name, next(port for port in Port if Access.APPEND in able[port]))
        try:
            handle = writer.append(data)
        except StreamFull:
            writer.reset()
            handle = writer.append(data)
        reader = device.stream(stream.name, next(port for port in Port if Access.READ in able[port]))
        if not np.array_equal(reader.read(handle), data):
            raise Lost(f"stream {stream.name}: what was appended after the recovery is wrong")


def _port(core: Access, needed: Access) -> Port:
    return Port.CORE if needed in core else Port.HOST
