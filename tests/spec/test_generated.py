"""The generated header and reference page: up to date, and good C and C++."""

import re
import subprocess
from enum import IntEnum
from pathlib import Path

import pytest

from flashtrain.native.compiler import c_compiler, cxx_compiler
from flashtrain.spec import Completion, Opcode, Port, Status, Submission, ZoneState, registers
from flashtrain.spec.comments import comments
from flashtrain.spec.configuration_page import page_with_tables
from flashtrain.spec.generate import CONFIGURATION_PAGE, FOLDER, generated
from flashtrain.spec.header import header
from flashtrain.spec.optimizer import AdamConstant, CopyFormat, OptimizerCode
from flashtrain.spec.registers import Counter, PortRegister, State, StreamRegister
from flashtrain.spec.update import UpdateHeader

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", generated())
def test_file_is_up_to_date(name):
    committed = (ROOT / FOLDER / name).read_text(encoding="utf-8")
    assert committed == generated()[name], f"{name} is stale: run `python -m flashtrain.spec.generate`"


def test_tables_of_configurations_are_up_to_date():
    page = (ROOT / CONFIGURATION_PAGE).read_text(encoding="utf-8")
    assert page_with_tables(page) == page, "tables are stale: run `python -m flashtrain.spec.generate`"
    assert page.count("\n| `") > 60


class Fruit(IntEnum):
    APPLE = 1  # red or green
    PEAR = 2


def test_comments_beside_members():
    assert comments(Fruit) == {"APPLE": "red or green", "PEAR": ""}
    # A formatter may spread a long line; its comment stays with the name.
    assert comments(State)["BAD_DOORBELL"].startswith("a doorbell was written")


def test_no_macro_is_defined_twice():
    names = re.findall(r"^#define (\w+)", header(), re.MULTILINE)
    assert len(names) > 200
    assert len(set(names)) == len(names)


PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "flashtrain.h"

static void show(const uint8_t *bytes, unsigned count)
{
    unsigned i;
    for (i = 0; i < count; ++i)
        printf("%02x", bytes[i]);
    printf("\n");
}

int main(void)
{
    uint8_t entry[FLASHTRAIN_SUBMISSION_BYTES];
    uint8_t completion[FLASHTRAIN_COMPLETION_BYTES];
    uint8_t descriptor[FLASHTRAIN_ZONE_DESCRIPTOR_BYTES];

    memset(entry, 0xFF, sizeof entry); /* a put clears bits, too */
    flashtrain_put(entry, FLASHTRAIN_SUBMISSION_OPCODE, FLASHTRAIN_OPCODE_ZONE_APPEND);
    flashtrain_put(entry, FLASHTRAIN_SUBMISSION_PSDT, FLASHTRAIN_SUBMISSION_PSDT_SGL);
    flashtrain_put(entry, FLASHTRAIN_SUBMISSION_ADDRESS, 0x123456789000u);
    flashtrain_put(entry, FLASHTRAIN_SUBMISSION_NLB, 41);
    show(entry, sizeof entry);

    memset(completion, 0, sizeof completion);
    flashtrain_put(completion, FLASHTRAIN_COMPLETION_STATUS, FLASHTRAIN_STATUS_UNWRITTEN_BLOCK);
    flashtrain_put(completion, FLASHTRAIN_COMPLETION_PHASE, 1);
    show(completion, sizeof completion);
    printf("%x\n", (unsigned)flashtrain_get(completion, FLASHTRAIN_COMPLETION_STATUS));

    memset(descriptor, 0, sizeof descriptor);
    descriptor[1] = 0xE0;
    printf("%x\n", (unsigned)flashtrain_get(descriptor, FLASHTRAIN_ZONE_DESCRIPTOR_STATE));

    printf("%x %x %x %x %x\n",
           FLASHTRAIN_PORT_ADDRESS(FLASHTRAIN_PORT_CORE, FLASHTRAIN_PORT_REGISTER_CQ_SIZE),
           FLASHTRAIN_STREAM_ADDRESS(3, FLASHTRAIN_STREAM_REGISTER_ATTRIBUTES),
           FLASHTRAIN_COUNTER_ADDRESS(FLASHTRAIN_COUNTER_ERASES), FLASHTRAIN_SQ_TAIL_DOORBELL(1),
           FLASHTRAIN_CQ_HEAD_DOORBELL(0));

    memset(entry, 0, sizeof entry);
    flashtrain_put(entry, FLASHTRAIN_UPDATE_HEADER_CODE, FLASHTRAIN_OPTIMIZER_ADAMW);
    flashtrain_put(entry, FLASHTRAIN_UPDATE_HEADER_COPY_FORMAT, FLASHTRAIN_COPY_FORMAT_BF16);
    flashtrain_put(entry, FLASHTRAIN_UPDATE_HEADER_PARAMETERS, 1365);
    flashtrain_put(entry, FLASHTRAIN_UPDATE_HEADER_CONSTANTS(FLASHTRAIN_ADAM_CONSTANT_EPSILON),
                   0x3f800000u);
    show(entry, sizeof entry);
    return 0;
}
"""


def expected_output() -> str:
    s = Submission
    entry = (1 << 8 * s.BYTES) - 1
    for field, value in (
        (s.opcode, Opcode.ZONE_APPEND),
        (s.psdt, s.PSDT_SGL),
        (s.address, 0x1234_5678_9000),
        (s.nlb, 41),
    ):
        entry = entry & ~field.put((1 << field.width) - 1) | field.put(value)
    completion = Completion.status.put(Status.UNWRITTEN_BLOCK) | Completion.phase.put(1)
    addresses = (
        registers.port_register(Port.CORE, PortRegister.CQ_SIZE),
        registers.stream_register(3, StreamRegister.ATTRIBUTES),
        registers.counter_register(Counter.ERASES),
        registers.sq_tail_doorbell(1),
        registers.cq_head_doorbell(0),
    )
    header = (
        UpdateHeader.code.put(OptimizerCode.ADAMW)
        | UpdateHeader.copy_format.put(CopyFormat.BF16)
        | UpdateHeader.parameters.put(1365)
        | UpdateHeader.constants[AdamConstant.EPSILON].put(0x3F80_0000)
    )
    lines = (
        entry.to_bytes(s.BYTES, "little").hex(),
        completion.to_bytes(Completion.BYTES, "little").hex(),
        f"{Status.UNWRITTEN_BLOCK:x}",
        f"{ZoneState.FULL:x}",
        " ".join(f"{address:x}" for address in addresses),
        header.to_bytes(UpdateHeader.BYTES, "little").hex(),
    )
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("compiler", "standard", "suffix"),
    [(c_compiler, "c99", "c"), (c_compiler, "c17", "c"), (cxx_compiler, "c++11", "cpp")],
    ids=["c99", "c17", "c++11"],
)
def test_header_compiles_and_agrees(compiler, standard, suffix, tmp_path):
    source, program = tmp_path / f"main.{suffix}", tmp_path / "main"
    source.write_text(PROGRAM, encoding="utf-8")
    subprocess.run(
        [
            compiler(), f"-std={standard}", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror",
            "-I", ROOT / FOLDER, source, "-o", program,
        ],
        check=True,
    )  # fmt: skip
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert output == expected_output()
