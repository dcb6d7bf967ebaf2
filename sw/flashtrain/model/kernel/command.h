// A command as the host model hands it over: checked, executed, and reduced to what takes time.

#pragma once

#include <cstdint>

namespace flashtrain {

enum class Job : uint8_t {
    ANSWER,  // ends in the zone manager: refused, or of no zone
    APPEND, READ, UPDATE, CONSTANTS, STATISTICS, FLUSH,
    RESET_STREAM, RESET_ZONE, GENERATION, COMMIT, LOOP, REPORT, MAP_ZONE, RELEASE_ZONE,
};

enum : uint8_t { NON_VOLATILE = 1, DROPS_SOURCE = 2 };

// `flashtrain.model.command.COMMAND` is the same layout.
struct Command {
    uint32_t id;      // of the completion
    uint32_t zone;    // of the device, by logical number; of an inspection by physical number
    uint32_t offset;  // of the first block in the zone
    uint32_t blocks;
    uint32_t first, zones;         // of the stream, or of the stream that a commit drops
    uint32_t count;                // zones of a loop, descriptors of a report, a physical zone
    uint32_t compute;              // cycles of the update unit for a tile
    Job job;
    uint8_t port, stream, source;
    uint8_t last_page, copies, flags, by_physical;
};

}  // namespace flashtrain
