"""Checks of a command before it starts: the state of its queue, the data that it moves, their descriptor."""

from flashtrain.nvme.subsystem.controller import Controller
from flashtrain.nvme.subsystem.io_commands import Refusal, Transfer
from flashtrain.nvme.wire.commands import SGL_PSDT, AdminOpcode, Entry, FabricsType, SglType
from flashtrain.nvme.wire.statuses import TargetStatus

from .authentication import MOST_MESSAGE_BYTES
from .fabrics import CONNECT_BYTES

_TO_DEVICE: dict[int, int] = {
    FabricsType.CONNECT: CONNECT_BYTES,
    FabricsType.AUTHENTICATION_SEND: MOST_MESSAGE_BYTES,
}
"""The most data of fabrics commands with data for the target."""

_AUTHENTICATE = (FabricsType.AUTHENTICATION_SEND, FabricsType.AUTHENTICATION_RECEIVE)


def check_state(entry: Entry, controller: Controller | None, connected: bool) -> None:
    """:class:`Refusal` of a command that a queue does not take in its state.

    controller: of the queue, None until its host is admitted; connected: its Connect was accepted.
    """
    fabrics = entry.opcode == AdminOpcode.FABRICS
    if controller is None and not connected:
        if not (fabrics and entry.nsid & 0xFF == FabricsType.CONNECT):
            raise Refusal(TargetStatus.COMMAND_SEQUENCE_ERROR)
    elif controller is None:
        if not (fabrics and entry.nsid & 0xFF in _AUTHENTICATE):
            raise Refusal(TargetStatus.AUTHENTICATION_REQUIRED)
    elif not fabrics and not controller.enabled:
        raise Refusal(TargetStatus.COMMAND_SEQUENCE_ERROR)


def fabrics_transfer(entry: Entry) -> Transfer:
    """The data that a fabrics command moves; :class:`Refusal` if they are too many."""
    kind = entry.nsid & 0xFF
    if kind in _TO_DEVICE:
        if entry.sgl_length > _TO_DEVICE[kind]:
            raise Refusal(TargetStatus.SGL_LENGTH_INVALID)
        return Transfer(to_device=entry.sgl_length)
    if kind == FabricsType.AUTHENTICATION_RECEIVE:
        # The host names the room that it has, and gets no more than a message.
        return Transfer(to_host=min(entry.sgl_length, MOST_MESSAGE_BYTES))
    return Transfer()


def check_pointer(entry: Entry, transfer: Transfer, in_capsule_bytes: int) -> None:
    """:class:`Refusal` of a data pointer that does not describe the transfer; the capsule has these data."""
    needed = transfer.to_device or transfer.to_host
    if not needed:
        return
    if entry.flags & 0xC0 != SGL_PSDT and entry.opcode != AdminOpcode.FABRICS:
        raise Refusal(TargetStatus.INVALID_FIELD)
    in_capsule = entry.sgl_type == SglType.IN_CAPSULE
    if not (in_capsule and transfer.to_device) and entry.sgl_type != SglType.TRANSPORT:
        raise Refusal(TargetStatus.SGL_TYPE_INVALID)
    if entry.sgl_length < needed or (transfer.to_device and entry.sgl_length != needed):
        raise Refusal(TargetStatus.SGL_LENGTH_INVALID)
    if in_capsule and entry.sgl_address + entry.sgl_length > in_capsule_bytes:
        raise Refusal(TargetStatus.INVALID_SGL_OFFSET)
