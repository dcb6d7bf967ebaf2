// Checker on the pins of a channel with SCA: packets, and the bursts of data between them (spec/sca.py, spec/chips.py).
//
// It decodes the packets on its own; what the commands in them mean is for checker.sv, a die each. A refusal is a line on
// the output, a call of `flashtrain_violation` and a count on `violations`; the message names the rule.
//
// Rules
//   Packets        at most one CA_CE_n low; a third of tCA between cycles of CA_CLK, tCA between the ends of packets; known
//                  headers. A packet that CA_CE_n cuts short, as at a reset of the controller, has no effect.
//   Direction      the controller drives CA in cycles of a packet, and not while a status comes.
//   Status         tWHR behind the packet before it of the same die; CA_CE_n rises behind it, when all has come.
//   Bursts         DATA_BEGIN only while no die has one open, DATA_END only of the die that has, FFh of a die ends its own;
//                  data only within, tSCE behind DATA_BEGIN; tCHZ from data out to the data of another die.
//   Addresses      12h ends the address of 80h, and comes for nothing else; data in only behind it.

/* verilator lint_off BLKSEQ */  // A model in procedural style; nothing leaves it but the count.

module flashtrain_sca_checker #(
    parameter integer DIES = 2,
    parameter integer TCA = 18,
    parameter integer TWHR = 48,
    parameter integer TSCE = 18,
    parameter integer TCHZ = 18,
    parameter integer CLOCK_MHZ = 600
) (
    input wire clk,
    input wire rst,
    input wire [63:0] cycle,
    input wire [7:0] channel,

    input wire [DIES-1:0] ca_ce_n,
    input wire ca_clk,
    input wire [3:0] ca_o,
    input wire ca_oe,
    input wire ca_valid,
    input wire dqs_o,
    input wire re,

    output wire [31:0] violations
);
  localparam [3:0] COMMAND = 0, ADDRESS = 1, STATUS = 2, DATA_BEGIN = 4, DATA_END = 5;
  localparam integer PACKET_CYCLES = 3, STATUS_CYCLES = 6, STATUS_PAIRS = 4;
  localparam [7:0] CMD_PROGRAM = 8'h80, CMD_RESET = 8'hFF, END_OF_ADDRESS = 8'h12;
  localparam [63:0] LONG_AGO = -64'd1000000;

  integer selected;  // die, or -1
  integer number;  // cycles of the packet that have come
  integer pairs;  // of a status
  reg [3:0] header;
  reg [3:0] low;
  reg [63:0] last_clk, last_packet;
  integer burst;  // die whose data may move, or -1
  reg [63:0] burst_from, last_re;
  integer last_re_die;
  reg [63:0] last_of[0:DIES-1];  // end of the packet before
  reg naming[0:DIES-1];  // 80h, and no 12h yet

  integer count;
  integer d;
  integer now;

  assign violations = count;

`ifdef VERILATOR
  import "DPI-C" function void flashtrain_violation(input string message);
`endif

  initial begin
    count = 0;
    forget;
  end

  always @(posedge clk) begin
    if (rst) forget;
    else begin
      if (ca_ce_n != {DIES{1'b1}} || selected >= 0) look_at_commands;
      if (dqs_o || re) look_at_data;
    end
  end

  task forget;
    begin
      selected = -1;
      number = 0;
      pairs = 0;
      last_clk = LONG_AGO;
      last_packet = LONG_AGO;
      burst = -1;
      last_re = LONG_AGO;
      last_re_die = -1;
      for (d = 0; d < DIES; d = d + 1) begin
        last_of[d] = LONG_AGO;
        naming[d] = 0;
      end
    end
  endtask

  task look_at_commands;
    begin
      now = -1;
      for (d = 0; d < DIES; d = d + 1)
        if (!ca_ce_n[d]) begin
          if (now >= 0) refuse(d, "CA_CE_n of another die is low at the same time");
          now = d;
        end
      if (now != selected) begin
        if (number != 0 && header == STATUS && pairs != 0 && pairs != STATUS_PAIRS)
          refuse(selected, "CA_CE_n rises before all of a status has come");
        number = 0;
        selected = now;
      end
      if (selected >= 0 && ca_clk) clock(selected);
      if (ca_valid) begin
        pairs = pairs + 1;
        if (ca_oe) refuse(selected, "the controller drives CA while a status comes");
      end
    end
  endtask

  task clock(input integer die);
    begin
      if (cycle - last_clk < TCA / PACKET_CYCLES)
        too_early(die, "a cycle of CA_CLK", cycle - last_clk, TCA / PACKET_CYCLES);
      last_clk = cycle;
      if (number == 0) begin
        header = ca_o;
        pairs = 0;
        if (header != COMMAND && header != ADDRESS && header != STATUS && header != DATA_BEGIN && header != DATA_END)
          refuse(die, $sformatf("unknown header %0d of a packet", header));
        if (header == STATUS && cycle - last_of[die] < TWHR) too_early(die, "tWHR", cycle - last_of[die], TWHR);
      end
      if (ca_oe != (header != STATUS || number == 0))
        refuse(die, ca_oe ? "the controller drives CA behind the header of a status" : "a packet that nobody drives");
      number = number + 1;
      if (header == STATUS) begin
        if (number > STATUS_CYCLES) refuse(die, "a packet behind a status, before CA_CE_n has risen");
      end else if (number == 2) low = ca_o;
      else if (number == PACKET_CYCLES) begin
        number = 0;
        if (cycle - last_packet < TCA) too_early(die, "tCA", cycle - last_packet, TCA);
        last_packet = cycle;
        last_of[die] = cycle;
        packet(die, {ca_o, low});
      end
    end
  endtask

  task packet(input integer die, input [7:0] value);
    case (header)
      COMMAND:
      if (value == END_OF_ADDRESS) begin
        if (!naming[die]) refuse(die, "12h without the address of a program");
        naming[die] = 0;
      end else begin
        naming[die] = value == CMD_PROGRAM;
        if (value == CMD_RESET && burst == die) burst = -1;
      end
      DATA_BEGIN: begin
        if (burst >= 0) refuse(die, $sformatf("data begin while those of die %0d have not ended", burst));
        if (naming[die]) refuse(die, "data of a program whose address 12h has not ended");
        burst = die;
        burst_from = cycle + TSCE;
      end
      DATA_END: begin
        if (burst != die) refuse(die, "data end that have not begun");
        burst = -1;
      end
      default: ;
    endcase
  endtask

  task look_at_data;
    begin
      if (dqs_o && re) refuse(burst, "RE_n toggles while the controller drives DQ");
      if (burst < 0) refuse(-1, "data outside of a burst");
      else begin
        if (cycle < burst_from) too_early(burst, "tSCE", TSCE - (burst_from - cycle), TSCE);
        if (burst != last_re_die && cycle - last_re < TCHZ) too_early(burst, "tCHZ", cycle - last_re, TCHZ);
      end
      if (re) begin
        last_re = cycle;
        last_re_die = burst;
      end
    end
  endtask

  task too_early(input integer die, input string name, input [63:0] after, input integer least);
    refuse(die, $sformatf("%0s: %0d cycles instead of at least %0d", name, after, least));
  endtask

  task refuse(input integer die, input string what);
    begin
      report(cycle, channel, die, what);
      count = count + 1;
    end
  endtask

  // Apart, and no more than a call in what Verilator makes of the many places that refuse something.
  task automatic report(input [63:0] at, input [7:0] of_channel, input integer die, input string what);
    /* verilator no_inline_task */
    string message;
    begin
      message = $sformatf("NAND VIOLATION cycle %0d (%0d ns) channel %0d die %0d: %0s",
                          at, at * 1000 / CLOCK_MHZ, of_channel, die, what);
      $display("%0s", message);
`ifdef VERILATOR
      flashtrain_violation(message);
`endif
    end
  endtask
endmodule
