// Where a command stands that is not answered.

#pragma once

#include <cstdint>

namespace flashtrain {

// What the command waits for. `flashtrain.model.standing.Awaited` has the same members.
enum class Awaited : uint32_t {
    COMPLETION_QUEUE,  // of its port, which is full
    FETCH,             // of its entry, or the commands before it in the zone manager
    OTHERS,            // commands in flight that it depends on
    ERASED_ZONE,
    TAG,
    WRITES,  // the write jobs before it
    ROOM,    // of the channel's write buffer, for its next page
    FLUSH,   // of the channels
    READS,   // the reads before it, or the writes that it follows
    LOOKUP,  // of its next page by the channel
    EVENTS,  // of pages that the channels have
};

// `flashtrain.model.standing.STANDING` is the same layout. `number`: the channel of ROOM or LOOKUP; of EVENTS how many.
struct Standing {
    uint32_t id;
    Awaited awaited;
    uint32_t number;
};

}  // namespace flashtrain
