"""IEEE-754 arithmetic in single precision, and conversions from and to the 16-bit formats.

Every unit rounds to nearest, ties to even, and supports subnormal numbers, infinities and signed zeros.
Each NaN result is the canonical quiet NaN (`7FC00000h`), as RISC-V prescribes (The RISC-V Instruction Set
Manual, F extension, 11.3). The units raise the five flags of IEEE 754, with tininess detected after rounding.

    unit.py           the base of all units: ports, enable, latency
    multiply_add.py   a * b + c, rounded once
    add.py            a + b, a - b
    multiply.py       a * b
    divide_root.py    a / b and √a, by digit recurrence
    convert.py        FP32 to and from FP16 and BF16

Costs in the data sheets are those of an ECP5. The cells are those of Yosys 0.23, `synth_ecp5 -abc9`; the
clock is that of nextpnr-ecp5 0.11.1, `--85k --speed 6 --out-of-context`. The registers before the operands
are not counted. Clock rates vary by a few MHz with the seed of the placement.

The units share these parts: `formats`, `unpack`, `product`, `align`, `recurrence`,
`normalise`, `round_pack`, and `pipeline`, which places the registers.
"""
