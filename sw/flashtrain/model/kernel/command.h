// A command as the host model hands it over: checked, executed, and reduced to what takes time.

#pragma once

#include <cstdint>

namespace flashtrain {

enum class Job : uint8_t {
    ANSWER,  // ends in the zone manager: refused, or of no zone
    APPEND, READ, UPDATE, CONSTANTS, STATISTICS, FLUSH,
    RESET_STREAM, RESET_ZONE, GENERATION, COMMIT, LOOP, REPORT, MAP_ZONE, RELEASE_ZONE, END_RECOVERY,
};

// CODED: an append to the encoder, or a read through the decoder lanes. ROUNDED: two slices of data are stored as one.
enum : uint8_t { NON_VOLATILE = 1, DROPS_SOURCE = 2, CODED = 4, ROUNDED = 8 };

// A stored page of a coded append or read. `flashtrain.model.coded.PAGE` is the same layout.
struct CodedPage {
    uint32_t first;    // of its slices of data in the tensor buffer, counted from a multiple of a burst
    uint16_t slices;   // stored in it; 0 if it is refused
    uint16_t changes;  // its mode or base differs from that of the page before
};

// `flashtrain.model.command.COMMAND` is the same layout.
struct Command {
    uint32_t id;      // of the completion
    uint32_t zone;    // of the device, by logical number; of an inspection by physical number
    uint32_t offset;  // of the first block in the zone
    uint32_t blocks;
    uint32_t first, zones;         // of the stream, or of the stream that a commit drops
    uint32_t count;                // zones of a loop, descriptors of a report, a physical zone, pages of a coded append
    uint32_t compute;              // cycles of the update unit for a tile
    uint32_t pages;                // of a coded command: where its pages are kept; the kernel sets it
    Job job;
    uint8_t port, stream, source;
    uint8_t last_page, copies, flags, by_physical;
};

// Its data go through the encoder.
inline bool encodes(const Command& command) { return command.job == Job::APPEND && command.flags & CODED; }

}  // namespace flashtrain
