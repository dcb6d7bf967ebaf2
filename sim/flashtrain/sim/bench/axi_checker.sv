// Protocol checker on the pins of an AXI4 manager (AMBA AXI4, IHI 0022, parts A3.1 to A3.4). It knows nothing of what is on
// either side.
//
// Rules
//   Reset      no VALID while in reset (A3.1.2).
//   Handshake  VALID, once up, stays with an unchanged payload until READY (A3.2.1); neither is ever unknown.
//   Bursts     INCR, of full width, from an aligned address, and within 4 KiB (A3.4.1); identifier 0.
//   Writes     as many beats up to WLAST as the burst has, which they may precede (A3.3); strobes all on or all off.
//   Answers    B only for a burst whose address and last beat were accepted; R only for an accepted burst, RLAST on its last
//              beat.
//
// A violation is a line on the output and a count on `violations`. `reads` and `writes` are the bursts under way: begun, by
// address or data, and not yet answered. AXI4-Lite is the case of one beat: tie the lengths to 0, WLAST and RLAST to 1.

/* verilator lint_off BLKSEQ */  // A model in procedural style; nothing leaves it but counts.

module flashtrain_axi_checker #(
    parameter NAME = "axi",
    parameter integer ADDRESS_BITS = 36,
    parameter integer DATA_BYTES = 8
) (
    input wire clk,
    input wire rst,

    input wire awid,
    input wire [ADDRESS_BITS-1:0] awaddr,
    input wire [7:0] awlen,
    input wire [2:0] awsize,
    input wire [1:0] awburst,
    input wire awvalid,
    input wire awready,
    input wire [8*DATA_BYTES-1:0] wdata,
    input wire [DATA_BYTES-1:0] wstrb,
    input wire wlast,
    input wire wvalid,
    input wire wready,
    input wire bid,
    input wire [1:0] bresp,
    input wire bvalid,
    input wire bready,
    input wire arid,
    input wire [ADDRESS_BITS-1:0] araddr,
    input wire [7:0] arlen,
    input wire [2:0] arsize,
    input wire [1:0] arburst,
    input wire arvalid,
    input wire arready,
    input wire rid,
    input wire [8*DATA_BYTES-1:0] rdata,
    input wire [1:0] rresp,
    input wire rlast,
    input wire rvalid,
    input wire rready,

    output wire [31:0] violations,
    output wire [31:0] reads,
    output wire [31:0] writes
);
  localparam integer MOST = 256;  // bursts under way
  localparam [1:0] INCR = 1;

  integer count;
  reg in_reset;

  // Lengths of bursts: a ring for each direction, with counts of all so far.
  reg [7:0] write_length[0:MOST-1];
  reg [7:0] write_beats[0:MOST-1];  // less one, as in the lengths
  reg [7:0] read_length[0:MOST-1];
  integer written, write_sent, write_answered, write_beat;
  integer read, read_answered, read_beat;

  // What was offered and not taken in the clock before.
  reg busy;  // there is such
  reg aw_kept, w_kept, b_kept, ar_kept, r_kept;
  reg [ADDRESS_BITS+13:0] aw_before, ar_before;
  reg [9*DATA_BYTES:0] w_before;
  reg [2:0] b_before;
  reg [8*DATA_BYTES+3:0] r_before;

  wire [ADDRESS_BITS+13:0] aw_now = {awid, awaddr, awlen, awsize, awburst};
  wire [ADDRESS_BITS+13:0] ar_now = {arid, araddr, arlen, arsize, arburst};
  wire [9*DATA_BYTES:0] w_now = {wdata, wstrb, wlast};
  wire [2:0] b_now = {bid, bresp};
  wire [8*DATA_BYTES+3:0] r_now = {rid, rdata, rresp, rlast};

  assign violations = count;
  assign reads = read - read_answered;
  assign writes = (written > write_sent ? written : write_sent + (write_beat > 0)) - write_answered;

  initial begin
    count = 0;
    in_reset = 0;
    forget;
  end

  always @(posedge clk) begin
    if (rst !== 0) begin
      if (in_reset && (awvalid !== 0 || wvalid !== 0 || arvalid !== 0)) refuse("VALID in reset");
      in_reset = 1;
      forget;
    end else begin
      in_reset = 0;
      if ((^{awready, wready, bready, arready, rready}) === 1'bx) refuse("READY is unknown");
      if (busy || {awvalid, wvalid, bvalid, arvalid, rvalid} !== 0) look;
    end
  end

  task look;
    begin
      if ((^{awvalid, wvalid, bvalid, arvalid, rvalid}) === 1'bx) refuse("VALID is unknown");
      // What was under way before this clock is looked at first: an answer cannot overtake its burst.
      if (bvalid && bready) end_write;
      if (rvalid && rready) take_read_beat;
      if (awvalid && awready) begin_write;
      if (arvalid && arready) begin_read;
      if (wvalid && wready) take_write_beat;
      hold;
    end
  endtask

  task forget;
    begin
      written = 0;
      write_sent = 0;
      write_answered = 0;
      write_beat = 0;
      read = 0;
      read_answered = 0;
      read_beat = 0;
      {busy, aw_kept, w_kept, b_kept, ar_kept, r_kept} = 0;
    end
  endtask

  task begin_write;
    begin
      look_at_burst("write", awid, awaddr, awlen, awsize, awburst);
      write_length[written%MOST] = awlen;
      written = written + 1;
      if (written <= write_sent) compare(written - 1);
      if (written - write_answered > MOST) refuse("too many write bursts under way");
    end
  endtask

  task begin_read;
    begin
      look_at_burst("read", arid, araddr, arlen, arsize, arburst);
      read_length[read%MOST] = arlen;
      read = read + 1;
      if (read - read_answered > MOST) refuse("too many read bursts under way");
    end
  endtask

  task look_at_burst(input [39:0] what, input id, input [ADDRESS_BITS-1:0] address, input [7:0] length,
                     input [2:0] size, input [1:0] burst);
    integer bytes;
    begin
      bytes = (length + 1) * DATA_BYTES;
      if ((^{id, address, length, size, burst}) === 1'bx)
        refuse($sformatf("%0s burst with unknown bits: address %h, length %0d", what, address, length));
      if (id != 0) refuse($sformatf("%0s burst with identifier %0d", what, id));
      if (burst != INCR) refuse($sformatf("%0s burst of kind %0d", what, burst));
      if (1 << size != DATA_BYTES) refuse($sformatf("%0s burst of size %0d", what, size));
      if (address % DATA_BYTES != 0) refuse($sformatf("%0s burst from %h, which is not aligned", what, address));
      if (address[11:0] + bytes > 4096)
        refuse($sformatf("%0s burst of %0d bytes from %h crosses 4 KiB", what, bytes, address));
    end
  endtask

  task take_write_beat;
    begin
      if (wstrb !== {DATA_BYTES{1'b0}} && wstrb !== {DATA_BYTES{1'b1}}) refuse($sformatf("write strobes %b", wstrb));
      if (wstrb[0] && (^wdata) === 1'bx) refuse($sformatf("unknown bits are written: %h", wdata));
      if (write_beat == 256) refuse("a 257th write beat before WLAST");
      write_beat = write_beat + 1;
      if (wlast) begin
        write_beats[write_sent%MOST] = write_beat - 1;
        write_beat = 0;
        write_sent = write_sent + 1;
        if (write_sent <= written) compare(write_sent - 1);
      end
    end
  endtask

  task compare(input integer burst);
    if (write_beats[burst%MOST] != write_length[burst%MOST])
      refuse($sformatf("WLAST at beat %0d of a burst of %0d",
                       write_beats[burst%MOST] + 1, write_length[burst%MOST] + 1));
  endtask

  task end_write;
    if (write_answered == write_sent || write_answered == written)
      refuse("an answer to a write that is not complete");
    else write_answered = write_answered + 1;
  endtask

  task take_read_beat;
    reg [7:0] length;
    begin
      if (read_answered == read) refuse("a read beat without a burst");
      else begin
        length = read_length[read_answered%MOST];
        if (rlast !== (read_beat == length))
          refuse($sformatf("RLAST is %b at beat %0d of a burst of %0d", rlast, read_beat + 1, length + 1));
        read_beat = read_beat + 1;
        if (read_beat > length) begin
          read_beat = 0;
          read_answered = read_answered + 1;
        end
      end
    end
  endtask

  // What was offered must still be there; remember what is offered now.
  task hold;
    begin
      if (aw_kept && !(awvalid && aw_now === aw_before)) refuse("AW changed before it was taken");
      if (w_kept && !(wvalid && w_now === w_before)) refuse("W changed before it was taken");
      if (b_kept && !(bvalid && b_now === b_before)) refuse("B changed before it was taken");
      if (ar_kept && !(arvalid && ar_now === ar_before)) refuse("AR changed before it was taken");
      if (r_kept && !(rvalid && r_now === r_before)) refuse("R changed before it was taken");
      aw_kept = awvalid && !awready;
      w_kept = wvalid && !wready;
      b_kept = bvalid && !bready;
      ar_kept = arvalid && !arready;
      r_kept = rvalid && !rready;
      busy = aw_kept || w_kept || b_kept || ar_kept || r_kept;
      aw_before = aw_now;
      w_before = w_now;
      b_before = b_now;
      ar_before = ar_now;
      r_before = r_now;
    end
  endtask

  task refuse(input string what);
    begin
      $display("AXI VIOLATION time %0t port %0s: %0s", $time, NAME, what);
      count = count + 1;
    end
  endtask
endmodule
