// The decoder lanes: coded pages to beats of data (`flashtrain.rtl.datapath.decoder_lanes`).
//
// The way of a page through its lane follows from its acceptance and from the pages before it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "command.h"
#include "parameters.h"

namespace flashtrain {

class DecoderLanes {
  public:
    explicit DecoderLanes(const Parameters& parameters);

    // When a lane accepts a page that is offered at `at`.
    Time accepts(Time at) const;
    // Accept it then. Its last beat moves at `beat`, and it has so many slices of data. The result is when the last of
    // these is written over the port, which others use, too.
    Time accept(const CodedPage& page, uint32_t slices, Time at, Time beat, Time& port_free);

    // Beats that the page has written.
    uint64_t beats() const { return beats_; }

  private:
    struct Lane {
        Time free = 0;     // it accepts a page
        Time written = 0;  // the last slice of the page before is in a beat
    };

    const Parameters& p_;
    std::vector<Lane> lanes_;
    size_t last_ = 0;  // in turn
    uint64_t beats_ = 0;
};

}  // namespace flashtrain
