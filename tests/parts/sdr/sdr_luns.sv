// A part of two LUNs behind one chip enable, on a bus with the pins of a host.
//
// A bus that nobody drives is pulled up. Of two LUNs that drive it at once, a 0 wins.

`timescale 1ns / 1ps

module sdr_luns (
    input wire cle,
    input wire ale,
    input wire we_n,
    input wire re_n,
    input wire wp_n,
    input wire [7:0] host_o,
    input wire host_oe,
    output wire [7:0] io,
    input wire [1:0] fail_program,
    input wire [1:0] fail_erase,
    input wire [15:0] wrong_bits,

    input wire pair_power,
    input wire pair_ce_n,
    output wire pair_rb_n,
    output wire [31:0] pair_violations,  // of both
    output wire [31:0] pair_misuses,
    output wire [63:0] pair_misuse,  // of LUN 0 where it has one
    output wire [31:0] pair_ignored,
    output wire [5:0] pair_mode  // of each
);
  wire [7:0] from_0, from_1;
  wire [1:0] drive, ready;
  wire [31:0] violations_0, violations_1, misuses_0, misuses_1, ignored_0, ignored_1;
  wire [63:0] misuse_0, misuse_1;
  wire [7:0] level = (drive[0] ? from_0 : 8'hFF) & (drive[1] ? from_1 : 8'hFF);
  assign io = host_oe ? host_o : level;
  assign pair_rb_n = &ready;
  assign pair_violations = violations_0 + violations_1;
  assign pair_misuses = misuses_0 + misuses_1;
  assign pair_misuse = misuses_0 != 0 ? misuse_0 : misuse_1;
  assign pair_ignored = ignored_0 + ignored_1;

  sdr_part #(
      .PAGE_BYTES(512), .SPARE_BYTES(16), .PAGES(4), .BLOCKS(4), .PLANES(2), .LUNS(2), .LUN(0), .OPTIONAL(16'h204C),
      .FEATURES(16'h000A), .SCALE(50), .SEED(5)
  ) first (
      .power(pair_power), .ce_n(pair_ce_n), .cle(cle), .ale(ale), .we_n(we_n), .re_n(re_n), .wp_n(wp_n), .io_i(io),
      .io_o(from_0), .io_oe(drive[0]), .others_drive(drive[1]), .rb_n(ready[0]), .fail_program(fail_program[0]),
      .fail_erase(fail_erase[0]), .wrong_bits(wrong_bits), .violations(violations_0), .violation(),
      .misuses(misuses_0), .misuse(misuse_0), .ignored(ignored_0), .suspensions(), .mode(pair_mode[2:0])
  );

  sdr_part #(
      .PAGE_BYTES(512), .SPARE_BYTES(16), .PAGES(4), .BLOCKS(4), .PLANES(2), .LUNS(2), .LUN(1), .OPTIONAL(16'h204C),
      .FEATURES(16'h000A), .SCALE(50), .SEED(7)
  ) second (
      .power(pair_power), .ce_n(pair_ce_n), .cle(cle), .ale(ale), .we_n(we_n), .re_n(re_n), .wp_n(wp_n), .io_i(io),
      .io_o(from_1), .io_oe(drive[1]), .others_drive(drive[0]), .rb_n(ready[1]), .fail_program(fail_program[1]),
      .fail_erase(fail_erase[1]), .wrong_bits(wrong_bits), .violations(violations_1), .violation(),
      .misuses(misuses_1), .misuse(misuse_1), .ignored(ignored_1), .suspensions(), .mode(pair_mode[5:3])
  );
endmodule
