"""IEEE-754 arithmetic in single precision, and conversions from and to the 16-bit formats.

Every unit rounds to nearest, ties to even; knows subnormal numbers, infinities and signed zeros; delivers the
canonical quiet NaN (`7FC00000h`) for every NaN, as RISC-V prescribes (The RISC-V Instruction Set Manual, F
extension, 11.3); and raises the five flags of IEEE 754 with tininess detected after rounding.

    unit.py           what all units have in common: ports, enable, latency
    multiply_add.py   a * b + c, rounded once
    add.py            a + b, a - b
    multiply.py       a * b
    divide_root.py    a / b and √a, by digit recurrence
    convert.py        FP32 to and from FP16 and BF16

Costs in the data sheets are those of an ECP5: cells by Yosys 0.23, `synth_ecp5 -abc9`, and the clock by
nextpnr-ecp5 0.11.1, `--85k --speed 6 --out-of-context`, with registers before the operands that are not
counted. Clocks vary by a few MHz with the seed of the placement.

Below them are the parts that each exist once: `formats`, `unpack`, `product`, `align`, `recurrence`,
`normalise`, `round_pack`, and `pipeline`, which places the registers.
"""
