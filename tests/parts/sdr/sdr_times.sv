// Times of the asynchronous (SDR) interface, in ns, by timing mode.
//
// Source: ONFI 3.x and 4.0, tables "SDR timing parameters" of the electrical chapter, as Linux has them in
// drivers/mtd/nand/raw/nand_timings.c. Revisions 1.0 to 2.3 have the same numbers, and a shorter tADL (200 ns in
// mode 0, 100 in modes 1 to 3, 70 in modes 4 and 5; Linux 3.18). A host that keeps these keeps those.

`timescale 1ns / 1ps

package sdr_times;
  // Minima that the host keeps.
  localparam integer TCS = 0, TCH = 1, TCLS = 2, TCLH = 3, TALS = 4, TALH = 5, TDS = 6, TDH = 7;
  localparam integer TWP = 8, TWH = 9, TWC = 10, TRP = 11, TREH = 12, TRC = 13, TADL = 14, TCCS = 15;
  localparam integer TWHR = 16, TRHW = 17, TRR = 18, TCLR = 19, TAR = 20, TWW = 21;
  // What the part does. A host waits for the maxima tWB and tRHZ, too.
  localparam integer TWB = 22, TRHZ = 23, HOSTS_TIMES = 24;
  localparam integer TREA = 24, TCEA = 25, TCHZ = 26, TRHOH = 27, TRLOH = 28, TCOH = 29;

  function automatic integer six(
      input integer mode, input integer t0, input integer t1, input integer t2, input integer t3,
      input integer t4, input integer t5);  // verilator no_inline_task
    case (mode)
      0: six = t0;
      1: six = t1;
      2: six = t2;
      3: six = t3;
      4: six = t4;
      default: six = t5;
    endcase
  endfunction

  // A simulator that inlines these would write the tables out wherever a time is needed.

  // A time in a timing mode. TADL and TCCS are the standard's; a part's parameters replace them.
  function automatic integer sdr_time(input integer which, input integer mode);  // verilator no_inline_task
    case (which)
      TCS: sdr_time = six(mode, 70, 35, 25, 25, 20, 15);
      TCH: sdr_time = six(mode, 20, 10, 10, 5, 5, 5);
      TCLS: sdr_time = six(mode, 50, 25, 15, 10, 10, 10);
      TCLH: sdr_time = six(mode, 20, 10, 10, 5, 5, 5);
      TALS: sdr_time = six(mode, 50, 25, 15, 10, 10, 10);
      TALH: sdr_time = six(mode, 20, 10, 10, 5, 5, 5);
      TDS: sdr_time = six(mode, 40, 20, 15, 10, 10, 7);
      TDH: sdr_time = six(mode, 20, 10, 5, 5, 5, 5);
      TWP: sdr_time = six(mode, 50, 25, 17, 15, 12, 10);
      TWH: sdr_time = six(mode, 30, 15, 15, 10, 10, 7);
      TWC: sdr_time = six(mode, 100, 45, 35, 30, 25, 20);
      TRP: sdr_time = six(mode, 50, 25, 17, 15, 12, 10);
      TREH: sdr_time = six(mode, 30, 15, 15, 10, 10, 7);
      TRC: sdr_time = six(mode, 100, 50, 35, 30, 25, 20);
      TADL: sdr_time = 400;
      TCCS: sdr_time = 500;
      TWHR: sdr_time = six(mode, 120, 80, 80, 80, 80, 80);
      TRHW: sdr_time = six(mode, 200, 100, 100, 100, 100, 100);
      TRR: sdr_time = six(mode, 40, 20, 20, 20, 20, 20);
      TCLR: sdr_time = six(mode, 20, 10, 10, 10, 10, 10);
      TAR: sdr_time = six(mode, 25, 10, 10, 10, 10, 10);
      TWW: sdr_time = 100;
      TWB: sdr_time = six(mode, 200, 100, 100, 100, 100, 100);
      TRHZ: sdr_time = six(mode, 200, 100, 100, 100, 100, 100);
      TREA: sdr_time = six(mode, 40, 30, 25, 20, 20, 16);
      TCEA: sdr_time = six(mode, 100, 45, 30, 25, 25, 25);
      TCHZ: sdr_time = six(mode, 100, 50, 50, 50, 30, 30);
      TRHOH: sdr_time = six(mode, 0, 15, 15, 15, 15, 15);
      TRLOH: sdr_time = six(mode, 0, 0, 0, 0, 5, 5);
      TCOH: sdr_time = six(mode, 0, 15, 15, 15, 15, 15);
      default: sdr_time = 0;
    endcase
  endfunction

  // The name of a time, padded with spaces.
  function automatic [39:0] time_name(input integer which);  // verilator no_inline_task
    case (which)
      TCS: time_name = "tCS  ";
      TCH: time_name = "tCH  ";
      TCLS: time_name = "tCLS ";
      TCLH: time_name = "tCLH ";
      TALS: time_name = "tALS ";
      TALH: time_name = "tALH ";
      TDS: time_name = "tDS  ";
      TDH: time_name = "tDH  ";
      TWP: time_name = "tWP  ";
      TWH: time_name = "tWH  ";
      TWC: time_name = "tWC  ";
      TRP: time_name = "tRP  ";
      TREH: time_name = "tREH ";
      TRC: time_name = "tRC  ";
      TADL: time_name = "tADL ";
      TCCS: time_name = "tCCS ";
      TWHR: time_name = "tWHR ";
      TRHW: time_name = "tRHW ";
      TRR: time_name = "tRR  ";
      TCLR: time_name = "tCLR ";
      TAR: time_name = "tAR  ";
      TWW: time_name = "tWW  ";
      TWB: time_name = "tWB  ";
      TRHZ: time_name = "tRHZ ";
      default: time_name = "     ";
    endcase
  endfunction
endpackage
