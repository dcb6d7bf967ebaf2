// Two parts on a bus with the pins of a host: one that declares much, and one that declares nothing.
//
// A bus that nobody drives is pulled up.

`timescale 1ns / 1ps

module sdr_bus (
    input wire cle,
    input wire ale,
    input wire we_n,
    input wire re_n,
    input wire wp_n,
    input wire [7:0] host_o,
    input wire host_oe,
    output wire [7:0] io,
    input wire fail_program,
    input wire fail_erase,
    input wire [15:0] wrong_bits,

    input wire full_power,
    input wire full_ce_n,
    output wire full_oe,
    output wire full_rb_n,
    output wire [31:0] full_violations,
    output wire [39:0] full_violation,
    output wire [31:0] full_misuses,
    output wire [63:0] full_misuse,
    output wire [31:0] full_ignored,
    output wire [31:0] full_suspensions,
    output wire [2:0] full_mode,

    input wire plain_power,
    input wire plain_ce_n,
    output wire plain_oe,
    output wire plain_rb_n,
    output wire [31:0] plain_violations,
    output wire [39:0] plain_violation,
    output wire [31:0] plain_misuses,
    output wire [63:0] plain_misuse,
    output wire [31:0] plain_ignored,
    output wire [31:0] plain_suspensions,
    output wire [2:0] plain_mode
);
  wire [7:0] full_o, plain_o;
  assign io = host_oe ? host_o : full_oe ? full_o : plain_oe ? plain_o : 8'hFF;

  sdr_part #(
      .PAGE_BYTES(2048), .SPARE_BYTES(64), .PAGES(8), .BLOCKS(8), .PLANES(2), .OPTIONAL(16'h207F), .DRIVE(8'h03),
      .PROGRAM_SUSPEND(8'h84), .PROGRAM_RESUME(8'h13), .ERASE_SUSPEND(8'h61), .ERASE_RESUME(8'hD2),
      .SUSPEND_CYCLES(3),
      .FEATURES(16'h0048), .SCALE(50), .SEED(5)
  ) full (
      .power(full_power), .ce_n(full_ce_n), .cle(cle), .ale(ale), .we_n(we_n), .re_n(re_n), .wp_n(wp_n),
      .io_i(io), .io_o(full_o), .io_oe(full_oe), .others_drive(1'b0), .rb_n(full_rb_n), .fail_program(fail_program),
      .fail_erase(fail_erase), .wrong_bits(wrong_bits), .violations(full_violations),
      .violation(full_violation), .misuses(full_misuses), .misuse(full_misuse), .ignored(full_ignored),
      .suspensions(full_suspensions),
      .mode(full_mode)
  );

  sdr_part #(
      .PAGE_BYTES(512), .SPARE_BYTES(16), .PAGES(6), .BLOCKS(9), .OPTIONAL(16'h0000), .MAX_MODE(3), .NOP(2),
      .BAD_BLOCKS(3), .SCALE(10), .SEED(11)
  ) plain (
      .power(plain_power), .ce_n(plain_ce_n), .cle(cle), .ale(ale), .we_n(we_n), .re_n(re_n), .wp_n(wp_n),
      .io_i(io), .io_o(plain_o), .io_oe(plain_oe), .others_drive(1'b0), .rb_n(plain_rb_n), .fail_program(fail_program),
      .fail_erase(fail_erase), .wrong_bits(wrong_bits), .violations(plain_violations),
      .violation(plain_violation), .misuses(plain_misuses), .misuse(plain_misuse), .ignored(plain_ignored),
      .suspensions(plain_suspensions),
      .mode(plain_mode)
  );
endmodule
