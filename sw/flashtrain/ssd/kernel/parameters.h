// Parameters of a simulation: whole numbers, in this order. Times are cycles of the NAND clock.
#pragma once
#include <cstdint>

#define SSD_PARAMETERS(X)                                                                      \
    X(drives) X(stripe)                             /* RAID 0: drives, and pages of a stripe */ \
    X(channels) X(dies) X(planes) X(blocks) X(pages) /* geometry of a drive */                  \
    X(user_pages)                                   /* logical pages of a drive */              \
    X(gc_start) X(gc_critical)                      /* free superblocks */                      \
    X(buffer) X(gc_buffer)                          /* pages of SRAM */                         \
    X(cores) X(write_time) X(move_time) X(read_time) /* firmware */                             \
    X(link)                                         /* a page on the host link, each way */     \
    X(suspend)                                      /* 1: reads suspend programs and erases */  \
    X(sense_command) X(erase_command) X(select) X(address) X(confirm) X(status) X(data)         \
    X(tccs) X(tadl) X(tdbsy) X(tchz) X(trhw)        /* bus */                                   \
    X(twb) X(trr) X(tr) X(tcbsy) X(tprog) X(tbers) X(tsusp) X(tres) X(tadv) /* array */

struct Parameters {
#define FIELD(name) int64_t name;
    SSD_PARAMETERS(FIELD)
#undef FIELD
    int64_t superpage() const { return channels * dies * planes; }
    int64_t superblock() const { return superpage() * pages; }
    int64_t sets_of_superblock() const { return channels * dies * pages; }
    int64_t all_pages() const { return superblock() * blocks; }
};
