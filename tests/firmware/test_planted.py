"""Faults that somebody might have written into the firmware: a test of this folder finds each."""

import asyncio
import random
from typing import NamedTuple

import pytest

from flashtrain.firmware.binding import OPTIONS, compiled
from flashtrain.firmware.sources import firmware_sources
from flashtrain.host import open_device
from tests.nvme.pcie.root_complex import attached

from .test_beside_software import ENTRIES, NODE, QUEUES, SERIAL, Beside, before_a_model

COMMANDS = 4000


class Fault(NamedTuple):
    """In `file` somebody wrote `wrong` where `right` belongs. quick: planted in every run."""

    name: str
    file: str
    right: str
    wrong: str
    quick: bool = False


FAULTS = (
    Fault("size-of-queues", "queues.c", "if (entries < 2 ||", "if (entries < 1 ||"),
    Fault("vector", "queues.c", "vector > ft_fw_word(firmware, FLASHTRAIN_TABLE_QUEUES)", "vector > 0xffffu"),
    Fault("base", "queues.c", "FT_FW_PRP1] & (page_bytes - 1)", "FT_FW_PRP1] & 4095u"),
    Fault("users", "queues.c", "partner == number)", "partner == number + 1)", quick=True),
    Fault("events-masked", "events.c", "firmware->events_masked |= (uint8_t)(1u << kind);", ""),
    Fault("oldest-refusal", "events.c", "firmware->refusal_count - index;", "index + 1u;"),
    Fault(
        "zeros-behind", "transfers.c", "offset + i < data->stored", "offset + i <= data->stored", quick=True
    ),
    Fault("shared-beat", "transfers.c", "length < BEAT_BYTES ? 2 : 0", "length < BEAT_BYTES ? 1 : 0"),
    Fault("stale-buffer", "transfers.c", "if (!write) firmware->known = 0;", ""),
    Fault("next-list", "transfers.c", "firmware->pages[found--];", "firmware->pages[found];"),
    Fault("offset-of-list", "transfers.c", "if (pointer & (BEAT_BYTES - 1))", "if (pointer & 3u)"),
    Fault("list-above", "pages.c", "if (nsid <= after)", "if (nsid < after)"),
    Fault("retained", "pages.c", "page.found && !retain", "page.found"),
    Fault("save", "features.c", "#define SAVE 0x80000000u", "#define SAVE 0x40000000u"),
    Fault("in-use", "features.c", "if (!ft_fw_in_use(firmware) &&", "if ("),
    Fault("fuse", "admin.c", "#define FUSE 0x0300u", "#define FUSE 0x0100u"),
    Fault("reset-of-features", "admin.c", "    ft_fw_reset_features(firmware);\n", ""),
    Fault("cid-in-use", "admin.c", "if (is_in_use(firmware, cid)) {", "if (0 && is_in_use(firmware, cid)) {"),
)


@pytest.mark.parametrize("fault", [pytest.param(one, id=one.name) for one in FAULTS])
def test_a_planted_fault_is_found(fault, request):
    sources = firmware_sources()
    assert sources[fault.file].count(fault.right) == 1, f"{fault.right!r} stands not once in {fault.file}"
    if not fault.quick and not request.config.getoption("--long"):
        return
    sources[fault.file] = sources[fault.file].replace(fault.right, fault.wrong)
    library = compiled(sources, [*OPTIONS, "-Wno-error", "-O0"])

    async def run() -> None:
        with open_device("tiny", "functional", NODE) as device:
            async with attached(device, queues=QUEUES, entries=ENTRIES, serial=SERIAL) as host:
                beside = Beside(host, before_a_model(device, library), device, random.Random(7))
                await beside.enable()
                for _ in range(COMMANDS):
                    await beside.step()

    with pytest.raises(AssertionError):
        asyncio.run(run())
