"""Register accesses that must have no effect: most are refused (SLVERR), bad doorbells are noted."""

from random import Random

from flashtrain.spec import FmsConfig, Port
from flashtrain.spec.registers import (
    Control,
    PortRegister,
    Register,
    StreamRegister,
    cq_head_doorbell,
    port_register,
    sq_tail_doorbell,
    stream_register,
)

from .scene import Scene

Writes = tuple[tuple[int, int], ...]
_READ_ONLY = (
    Register.ID, Register.VERSION, Register.GEOMETRY, Register.BLOCKS, Register.PAGE, Register.LIMITS,
    Register.STATE, Register.CLOCK_MHZ, Register.ZONES, Register.SEQUENCE, Register.ZONE_WEAR,
)  # fmt: skip
_NOWHERE = (0x040, 0x0FC, 0x11C, 0x180, 0x1FC, 0x20C, 0x300, 0x3EC, 0x7F0, 0x1010, 0x1FFC)
_BASES = (PortRegister.SQ_BASE_LOW, PortRegister.CQ_BASE_LOW)
_SIZES = (PortRegister.SQ_SIZE, PortRegister.CQ_SIZE)


def refused_when_disabled(random: Random) -> Writes:
    """Bases off their alignment, sizes of one entry or too many, doorbells, and what is never written."""
    port = random.choice(list(Port))
    size = random.choice([0, random.randint(1 << 16, (1 << 32) - 1)])
    misaligned = random.randrange(1 << 26) << 6 | random.randint(1, 63)
    writes = [
        (port_register(port, random.choice(_BASES)), misaligned),
        (port_register(port, random.choice(_SIZES)), size),
        (sq_tail_doorbell(port), random.randrange(16)),
        (cq_head_doorbell(port), random.randrange(16)),
        *_never_written(random),
    ]
    return tuple(random.sample(writes, random.randint(0, len(writes))))


def refused_when_enabled(random: Random, config: FmsConfig) -> Writes:
    """Settings, which are locked; and what is never written, or not with such a value."""
    port, nsid = random.choice(list(Port)), random.randint(1, 8)
    writes = [
        (Register.MEMORY_LOW, random.getrandbits(32)),
        (Register.MEMORY_HIGH, random.getrandbits(16)),
        (Register.CONTROL, random.randint(1 + max(Control) * 2, (1 << 32) - 1)),
        (Register.CHANNEL_SELECT, random.randint(config.geometry.channels, (1 << 32) - 1)),
        (Register.ZONE_SELECT, random.randint(config.geometry.zones, (1 << 32) - 1)),
        (port_register(port, random.choice(list(PortRegister))), random.randrange(1 << 16) & ~63),
        (stream_register(nsid, StreamRegister.ZONES), random.getrandbits(32)),
        (stream_register(nsid, StreamRegister.ATTRIBUTES), random.getrandbits(14)),
        (stream_register(nsid, StreamRegister.GENERATION), random.getrandbits(16)),
        *_never_written(random),
    ]
    return tuple(random.sample(writes, random.randint(1, len(writes))))


def bad_doorbells(random: Random, scene: Scene) -> Writes:
    """Values past the queue: ignored, and noted in STATE."""
    writes: list[tuple[int, int]] = []
    for _ in range(random.randint(1, 3)):
        port = random.choice(list(Port))
        place = scene.queues[port]
        address, entries = random.choice(
            [(sq_tail_doorbell(port), place.sq_entries), (cq_head_doorbell(port), place.cq_entries)]
        )
        further = random.randint(entries, (1 << 32) - 1)
        writes.append((address, random.choice([entries, entries + 1, 0xFFFF, entries | 1 << 16, further])))
    return tuple(writes)


def _never_written(random: Random) -> Writes:
    addresses = (random.choice(_READ_ONLY), random.choice(_NOWHERE))
    return tuple((address, random.getrandbits(32)) for address in addresses)
