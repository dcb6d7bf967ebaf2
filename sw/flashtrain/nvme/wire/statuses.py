"""Statuses that the target answers itself; those of I/O commands are `flashtrain.spec.Status`."""

from enum import IntEnum

from flashtrain.spec import pcie
from flashtrain.spec.nvme import do_not_retry


class TargetStatus(IntEnum):
    """Status code type in bits 10:8, status code in bits 7:0 (NVM Express Base 2.0, section 3.3.3.2.1)."""

    SUCCESS = 0x000
    INVALID_OPCODE = 0x001
    INVALID_FIELD = 0x002
    CID_CONFLICT = 0x003
    DATA_TRANSFER_ERROR = 0x004
    INTERNAL_ERROR = 0x006
    ABORT_REQUESTED = 0x007
    ABORTED_BY_QUEUE_DELETION = 0x008
    INVALID_NAMESPACE = 0x00B
    COMMAND_SEQUENCE_ERROR = 0x00C
    SGL_LENGTH_INVALID = 0x00F
    SGL_TYPE_INVALID = 0x011
    INVALID_PRP_OFFSET = pcie.INVALID_PRP_OFFSET
    INVALID_SGL_OFFSET = 0x016
    TRANSIENT_TRANSPORT_ERROR = 0x022
    LBA_OUT_OF_RANGE = 0x080
    INVALID_COMPLETION_QUEUE = 0x100
    INVALID_QUEUE_NUMBER = 0x101
    INVALID_QUEUE_SIZE = 0x102
    INVALID_VECTOR = 0x108
    INVALID_LOG_PAGE = 0x109
    INVALID_QUEUE_DELETION = 0x10C
    FEATURE_NOT_SAVEABLE = 0x10D
    FEATURE_NOT_CHANGEABLE = 0x10E
    FEATURE_NOT_OF_A_NAMESPACE = 0x10F
    ASYNC_EVENT_LIMIT_EXCEEDED = 0x105
    COMMAND_SETS_REJECTED = 0x12B
    CONNECT_INCOMPATIBLE_FORMAT = 0x180
    CONNECT_CONTROLLER_BUSY = 0x181
    CONNECT_INVALID_PARAMETERS = 0x182
    CONNECT_INVALID_HOST = 0x184
    AUTHENTICATION_REQUIRED = 0x191
    INVALID_ZONE_TRANSITION = 0x1BF
    UNRECOVERED_READ_ERROR = 0x281
    ACCESS_DENIED = 0x286


_RETRIED = frozenset(
    {
        TargetStatus.TRANSIENT_TRANSPORT_ERROR,
        TargetStatus.ABORT_REQUESTED,
        TargetStatus.CONNECT_CONTROLLER_BUSY,
    }
)


def is_final(status: int) -> bool:
    """DNR of a completion: the rule of the device, and the target's own statuses."""
    return do_not_retry(status) and status not in _RETRIED
