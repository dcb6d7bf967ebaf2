// A recording: events of pins and arrays, and what crosses the seams between blocks of the controller, in a window
// of cycles.

#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

extern "C" void flashtrain_array_log(int32_t on);

namespace flashtrain {

struct Record {
    uint64_t start, end;
    uint16_t kind, channel, die, detail;
};

// Something has crossed a seam in this cycle. `seams.py` has the kinds, and the fields that each of them has.
struct Seam {
    uint64_t clock = 0;
    uint64_t result = 0;
    uint32_t buffer_block = 0;
    uint16_t kind = 0, channel = 0, tag = 0, cid = 0, port = 0, status = 0;
    uint16_t die = 0, plane = 0, zone = 0, page = 0, source = 0, flags = 0;
    uint32_t unused = 0;
};

inline Seam& cross(std::vector<Seam>& seams, int kind, int channel) {
    Seam seam;
    seam.kind = static_cast<uint16_t>(kind);
    seam.channel = static_cast<uint16_t>(channel);
    seams.push_back(seam);
    return seams.back();
}

// `width` bits of a port, from `low` on. Verilator stores it in an integer, or in an array of 32-bit words.
template <typename Port>
uint64_t field(const Port& port, unsigned low, unsigned width) {
    uint64_t value = 0;
    if constexpr (std::is_integral_v<Port>) {
        value = uint64_t{port} >> low;
    } else {
        const unsigned offset = low % 32;
        for (unsigned done = 0; done < offset + width; done += 32) {
            const uint64_t word = port[(low + done) / 32];
            value |= done ? word << (done - offset) : word >> offset;
        }
    }
    return width < 64 ? value & ((uint64_t{1} << width) - 1) : value;
}

class Recording {
  public:
    static constexpr uint64_t kNever = ~uint64_t{0};

    std::vector<Record> records;
    std::vector<Seam> seams;

    bool on() const { return on_; }
    uint64_t began() const { return began_; }
    uint64_t ended() const { return ended_; }
    bool full() const { return full_; }

    // From cycle `begin` to before cycle `end`, or until so many events are recorded.
    void arm(uint64_t now, uint64_t begin, uint64_t end, uint64_t most) {
        stop(now);
        records.clear();
        seams.clear();
        began_ = ended_ = kNever;
        full_ = false;
        end_ = end;
        most_ = most;
        next_ = begin;
        turn(now);
    }

    // Called in every cycle before anything of it is recorded.
    void turn(uint64_t now) {
        if (now < next_) return;
        if (!on_ && began_ == kNever) {
            on_ = true;
            began_ = now;
            next_ = end_;
            flashtrain_array_log(1);
        }
        if (now >= next_) stop(now);
    }

    void stop(uint64_t now) {
        next_ = kNever;
        if (!on_) return;
        on_ = false;
        ended_ = now;
        flashtrain_array_log(0);
    }

    void limit(uint64_t now) {
        if (!on_ || records.size() + seams.size() < most_) return;
        full_ = true;
        stop(now);
    }

  private:
    bool on_ = false, full_ = false;
    uint64_t next_ = kNever, end_ = kNever, most_ = kNever;
    uint64_t began_ = kNever, ended_ = kNever;
};

}  // namespace flashtrain
