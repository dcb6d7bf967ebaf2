// Records of what arrays and buses do: those of the RTL Link's event trace.

#pragma once

#include <cstdint>
#include <vector>

#include "nand.h"
#include "parameters.h"

namespace flashtrain {

struct TraceRecord {
    uint64_t start, end;
    uint16_t kind, channel, die, detail;
};

// An operation of an array that has not been recorded yet: a suspended read may prolong it.
struct ArrayRecord {
    bool valid;
    ArrayOp op;
    Time start;
    uint32_t planes;
};

struct Trace {
    bool on = false;
    std::vector<TraceRecord> records;

    void add(Time start, Time end, uint16_t kind, uint16_t channel, uint16_t die, uint16_t detail) {
        if (on) records.push_back({start, end, kind, channel, die, detail});
    }
};

}  // namespace flashtrain
