// The array of the part: cells, blocks with factory marks, and what programs, erases and reads do to them.
//
// A row is the number of a page in the part; a negative one does not exist.

`timescale 1ns / 1ps

module sdr_array #(
    parameter integer PAGE_BYTES = 2048,
    parameter integer BYTES = 2112,  // of a page with its spare ones
    parameter integer PAGES = 64,
    parameter integer BLOCKS = 8,
    parameter integer PLANES = 1,
    parameter integer NOP = 4,
    parameter integer BAD_BLOCKS = 0,
    parameter integer SEED = 1
) ();
  // What was not written since the erase is FFh, whatever the memory holds.
  reg [7:0] cells[0:BLOCKS*PAGES*BYTES-1];
  reg written[0:BLOCKS*PAGES-1];
  integer programs[0:BLOCKS*PAGES-1];
  integer next_page[0:BLOCKS-1];  // in order
  reg bad[0:BLOCKS-1];
  reg [31:0] random;
  reg [7:0] register[0:PLANES*BYTES-1];  // a page on each plane
  reg too_often, out_of_order;  // the program that was counted last

  // Xorshift: the same numbers in every simulator.
  task draw;
    begin
      random = random ^ (random << 13);
      random = random ^ (random >> 17);
      random = random ^ (random << 5);
    end
  endtask

  function integer page_of(input integer place);
    page_of = place % PAGES;
  endfunction

  function integer block_of(input integer place);
    block_of = place / PAGES;
  endfunction

  function integer plane_of(input integer place);
    plane_of = place < 0 ? 0 : block_of(place) % PLANES;
  endfunction

  function [7:0] cell_at(input integer place, input integer at);
    if (bad[block_of(place)]) cell_at = page_of(place) == 0 && at == PAGE_BYTES ? 8'h00 : 8'hFF;
    else cell_at = written[place] ? cells[place*BYTES+at] : 8'hFF;
  endfunction

  // Read a row into the register, with wrong bits at a rate per million.
  task sense(input integer place, input [15:0] rate);
    integer i, p, count, at;
    begin
      p = plane_of(place);
      // verilator unroll_disable
      for (i = 0; i < BYTES; i = i + 1)
        register[p*BYTES+i] = place < 0 ? 8'hFF : cell_at(place, i);
      draw;
      // As many as expected; the fraction at random.
      count = ({16'd0, rate} * (8 * BYTES) + {12'd0, random[19:0]} % 1000000) / 1000000;
      // verilator unroll_disable
      for (i = 0; i < count; i = i + 1) begin
        draw;
        at = {1'b0, random[31:1]} % (8 * BYTES);
        register[p*BYTES+at/8][at%8] = ~register[p*BYTES+at/8][at%8];
      end
    end
  endtask

  // Program a row from the register. A torn program leaves a part of the zeros out.
  task program_row(input integer place, input torn);
    integer i, p;
    reg [7:0] kept;
    if (place >= 0 && !bad[block_of(place)]) begin
      p = plane_of(place);
      // verilator unroll_disable
      for (i = 0; i < BYTES; i = i + 1) begin
        if (torn) draw;
        kept = torn ? random[7:0] & random[15:8] : 8'h00;
        cells[place*BYTES+i] = cell_at(place, i) & (register[p*BYTES+i] | kept);
      end
      written[place] = 1'b1;
    end
  endtask

  // Erase a block. A torn erase leaves a part of the zeros, and pages that were empty are no longer quite so.
  task erase_block(input integer place, input torn);
    integer i, each;
    if (place >= 0 && !bad[block_of(place)]) begin
      // verilator unroll_disable
      for (each = block_of(place) * PAGES; each < (block_of(place) + 1) * PAGES; each = each + 1) begin
        if (torn) begin
          // verilator unroll_disable
          for (i = 0; i < BYTES; i = i + 1) begin
            draw;
            cells[each*BYTES+i] = (written[each] ? cells[each*BYTES+i] | random[7:0] : 8'hFF)
                & ~(random[15:8] & random[23:16] & random[31:24]);
          end
          written[each] = 1'b1;
        end else begin
          written[each] = 1'b0;
          programs[each] = 0;
        end
      end
      if (!torn) next_page[block_of(place)] = 0;
    end
  endtask

  // Count a program of a row, and see whether it is one too many, or not in its turn.
  task count_program(input integer place);
    begin
      too_often = 1'b0;
      out_of_order = 1'b0;
      if (place >= 0) begin
        programs[place] = programs[place] + 1;
        too_often = programs[place] > NOP;
        out_of_order = page_of(place) != next_page[block_of(place)]
            && page_of(place) != next_page[block_of(place)] - 1;
        if (page_of(place) >= next_page[block_of(place)]) next_page[block_of(place)] = page_of(place) + 1;
      end
    end
  endtask

  // Programs and erases fail in bad blocks, and where there is no row.
  function fails(input integer place);
    fails = place < 0 ? 1'b1 : bad[block_of(place)];
  endfunction

  integer i, left;
  initial begin
    too_often = 1'b0;
    out_of_order = 1'b0;
    random = SEED * 32'h9E3779B1 + 32'h7F4A7C15;
    // verilator unroll_disable
    for (i = 0; i < BLOCKS * PAGES; i = i + 1) begin
      written[i] = 1'b0;
      programs[i] = 0;
    end
    // verilator unroll_disable
    for (i = 0; i < BLOCKS; i = i + 1) begin
      next_page[i] = 0;
      bad[i] = 1'b0;
    end
    left = BAD_BLOCKS;
    while (left > 0) begin
      draw;
      i = 1 + {1'b0, random[31:1]} % (BLOCKS - 1);
      if (!bad[i]) begin
        bad[i] = 1'b1;
        left = left - 1;
      end
    end
  end
endmodule
