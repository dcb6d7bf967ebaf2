"""Health of a device as the SMART log page has it, and warnings of wear."""

import struct
from dataclasses import dataclass
from enum import IntEnum

from flashtrain.host import Device
from flashtrain.spec.registers import ChannelCounter

from .log_format import HEALTH_BYTES

LEAST_SPARE = 10
"""Percent of the spare blocks from which on a device warns."""

SPARE_LOW, UNRELIABLE = 1, 4
"""Bits of the critical warning."""
UNIT_BYTES = 512_000


class HealthField(IntEnum):
    """Places in the page of the fields that are not always 0. From READ on fields have 16 bytes."""

    WARNING = 0
    SPARE = 3
    LEAST_SPARE = 4
    USED = 5
    READ = 32
    WRITTEN = 48
    READS = 64
    WRITES = 80
    POWER_CYCLES = 112
    HOURS = 128
    UNSAFE_SHUTDOWNS = 144
    MEDIA_ERRORS = 160
    ERRORS = 176


@dataclass
class Traffic:
    """Commands and bytes of all hosts since the target started. sgls: commands of PCI Express with one."""

    reads: int = 0
    writes: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    media_errors: int = 0
    power_losses: int = 0
    sgls: int = 0


@dataclass(frozen=True)
class Wear:
    """Wear by the registers. spare: percent of the spare blocks that are left; used: of the endurance."""

    spare: int
    used: int

    @property
    def warning(self) -> int:
        """The bits of the critical warning."""
        return (SPARE_LOW if self.spare < LEAST_SPARE else 0) | (UNRELIABLE if self.used >= 100 else 0)


def wear_of(device: Device) -> Wear:
    """The wear of a device, by the erases of its most worn zone."""
    wear = device.wear()
    used = 100 * wear.used // wear.endurance
    g = device.config.geometry
    spares = g.spare_blocks * g.channels * g.dies * g.planes
    taken = 0
    if spares:
        replaced = ChannelCounter.BLOCKS_REPLACED.name
        taken = sum(channel[replaced] for channel in device.channel_counters())
        taken += 0 if device.recovered is None else device.recovered.spares
    return Wear(100 if not spares else max(100 - 100 * taken // spares, 0), min(used, 255))


def health_page(wear: Wear, traffic: Traffic, hours: int, errors: int) -> bytes:
    """The SMART log page (NVM Express Base 2.0, section 5.16.1.3).

    The device has no sensor: the temperature is 0, not reported. errors: entries of the error log so far.
    """
    page, field = bytearray(HEALTH_BYTES), HealthField
    page[field.WARNING] = wear.warning
    page[field.SPARE], page[field.LEAST_SPARE], page[field.USED] = wear.spare, LEAST_SPARE, wear.used
    for place, number in (
        (field.READ, -(-traffic.bytes_read // UNIT_BYTES)),
        (field.WRITTEN, -(-traffic.bytes_written // UNIT_BYTES)),
        (field.READS, traffic.reads),
        (field.WRITES, traffic.writes),
        (field.POWER_CYCLES, traffic.power_losses),
        (field.HOURS, hours),
        (field.UNSAFE_SHUTDOWNS, traffic.power_losses),
        (field.MEDIA_ERRORS, traffic.media_errors),
        (field.ERRORS, errors),
    ):
        struct.pack_into("<QQ", page, place, number, 0)
    return bytes(page)
