"""The pins of the wrapper `flashtrain_nvme`: a drive on PCI Express, behind a hard block of the FPGA's maker.

Streams have a pin for each field of their items, besides `valid` and `ready`.
"""

from amaranth.hdl import Shape
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import Axi4LiteSignature
from flashtrain.rtl.pcie.pcie_controller import PcieController
from flashtrain.spec.registers import ADDRESS_BITS

from .pins import Bundle, Pin, Protocol, nand_bundles, register_bundle

_STREAMS = (
    ("requests", "m_tlp_request", "memory requests to the host"),
    ("data", "m_tlp_write", "data of memory writes, behind their requests"),
    ("completions", "s_tlp_completion", "completions of memory reads, always taken"),
    ("accesses", "s_bar", "reads and writes of BAR 0, in dwords"),
    ("answers", "m_bar", "answers to reads of BAR 0"),
    ("firmware", "s_mailbox", "the firmware's accesses to mailbox and namespaces, in dwords"),
    ("values", "m_mailbox", "answers to the firmware's reads"),
)
_LEVELS = (
    ("function", "PCI Express: MSI-X enable and function mask, a fault of the device, queues in use",
     ("enable_vectors", "mask_vectors", "fault", "running")),
    ("firmware", "the mailbox has work for the firmware", ("attention",)),
)  # fmt: skip


def drive_bundles(drive: PcieController) -> list[Bundle]:
    """The interfaces of the wrapper, but for clock and reset."""
    members = drive.signature.members
    return [
        *(_stream(members[port], port, prefix, purpose) for port, prefix, purpose in _STREAMS),
        *(
            Bundle(
                prefix,
                Protocol.LEVELS,
                purpose,
                "",
                tuple(_level(members[one], prefix, one) for one in ports),
            )
            for prefix, purpose, ports in _LEVELS
        ),
        register_bundle(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
        *nand_bundles(drive.config),
    ]


def _stream(member: wiring.Member, port: str, prefix: str, purpose: str) -> Bundle:
    """`member` is a stream. The fields of its items stand in the order of their bits."""
    leaves, forth = member.signature.members, member.flow
    payload, back = leaves["payload"].shape, In if forth == Out else Out
    pins = [Pin(f"{prefix}_valid", _direction(forth), 1, f"{port}__valid")]
    if not member.signature.always_ready:
        pins.append(Pin(f"{prefix}_ready", _direction(back), 1, f"{port}__ready"))
    fields = (
        [(name, Shape.cast(shape).width) for name, shape in payload.members.items()]
        if isinstance(payload, data.StructLayout)
        else [("data", Shape.cast(payload).width)]
    )
    pins += [Pin(f"{prefix}_{name}", _direction(forth), width, f"{port}__payload") for name, width in fields]
    return Bundle(prefix, Protocol.STREAM, purpose, port, tuple(pins))


def _level(member: wiring.Member, prefix: str, port: str) -> Pin:
    return Pin(f"{prefix}_{port}", _direction(member.flow), Shape.cast(member.shape).width, port)


def _direction(flow: wiring.Flow) -> str:
    return "output" if flow == Out else "input"
