// The parameter page: 256 bytes, byte 0 in the lowest bits.
//
// Source: ONFI 1.0, section 5.4.1, table "Parameter Page Definitions"; the same bytes in Linux' struct
// nand_onfi_params (include/linux/mtd/onfi.h). The CRC-16 has the polynomial 8005h and begins with 4F4Eh; the most
// significant bit of each byte comes first.
// Times are maxima in microseconds, and not scaled.

`timescale 1ns / 1ps

module sdr_parameter_page #(
    parameter integer PAGE_BYTES = 2048,
    parameter integer SPARE_BYTES = 64,
    parameter integer PAGES = 64,
    parameter integer BLOCKS = 8,  // of a LUN
    parameter integer LUNS = 1,
    parameter integer PLANES = 1,
    parameter [15:0] OPTIONAL = 16'h003F,
    parameter [7:0] DRIVE = 8'h00,
    parameter [15:0] FEATURES = 16'h0000,
    parameter [15:0] REVISION = 16'h0002,
    parameter integer NOP = 4,
    parameter integer BAD_BLOCKS = 0,
    parameter integer MAX_MODE = 5,
    parameter integer TPROG_US = 600,
    parameter integer TBERS_US = 3000,
    parameter integer TR_US = 25,
    parameter integer TCCS_NS = 500,
    parameter [7:0] MAKER = 8'h2C
) (
    output reg [2047:0] bytes
);
  task put(input integer at, input integer count, input integer value);
    integer i;
    for (i = 0; i < count; i = i + 1) bytes[8*(at+i)+:8] = value[8*i+:8];
  endtask

  // The first character of a text comes first, as the most significant byte does in Verilog.
  task put_text(input integer at, input integer count, input [159:0] text);
    integer i;
    for (i = 0; i < count; i = i + 1) bytes[8*(at+i)+:8] = text[8*(count-1-i)+:8];
  endtask

  function [15:0] checksum(input [2031:0] content);
    integer i;
    reg [15:0] crc;
    begin
      crc = 16'h4F4E;
      for (i = 0; i < 2032; i = i + 1)
        crc = {crc[14:0], 1'b0} ^ (crc[15] ^ content[i/8*8+7-i%8] ? 16'h8005 : 16'h0000);
      checksum = crc;
    end
  endfunction

  initial begin
    bytes = 2048'd0;
    put_text(0, 4, "ONFI");
    put(4, 2, {16'd0, REVISION});
    put(6, 2, {16'd0, FEATURES});
    put(8, 2, {16'd0, OPTIONAL});
    put_text(32, 12, "FLASHTRAIN  ");
    put_text(44, 20, "SDR PART            ");
    put(64, 1, {24'd0, MAKER});
    put(80, 4, PAGE_BYTES);
    put(84, 2, SPARE_BYTES);
    put(86, 4, PAGE_BYTES / 4);  // partial pages: ONFI 1.0 only
    put(90, 2, SPARE_BYTES / 4);
    put(92, 4, PAGES);
    put(96, 4, BLOCKS);
    put(100, 1, LUNS);
    put(101, 1, 32'h23);  // address cycles: 2 of the column, 3 of the row
    put(102, 1, 1);  // bits per cell
    put(103, 2, BAD_BLOCKS);  // at most
    put(105, 2, 32'h0501);  // endurance: 1 * 10 ** 5
    put(107, 1, 1);  // blocks that are guaranteed to be good: block 0
    put(110, 1, NOP);
    put(112, 1, 1);  // bits that an error correction has to correct
    put(113, 1, PLANES - 1);  // bits of an address that are those of the plane
    put(128, 1, 10);  // pF
    put(129, 2, (2 << MAX_MODE) - 1);
    if (OPTIONAL[0]) put(131, 2, (2 << MAX_MODE) - 1);  // while programs are cached
    put(133, 2, TPROG_US);
    put(135, 2, TBERS_US);
    put(137, 2, TR_US);
    put(139, 2, TCCS_NS);
    put(151, 1, {24'd0, DRIVE});  // reserved in ONFI 1.0; drive strengths since 2.0
    put(254, 2, {16'd0, checksum(bytes[2031:0])});
  end
endmodule
