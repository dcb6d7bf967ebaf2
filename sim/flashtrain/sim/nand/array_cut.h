// What an operation that is cut short leaves in the cells.
//
// The same in NumPy: flashtrain.sim.nand.errors.cut. A cell changes at a moment of its own, drawn from seed, place and
// the number of the block's erases: the later the cut, the more cells have changed, and never fewer. Most cells program
// early and erase late, so that what is cut often looks whole.

#pragma once

#include <cmath>
#include <cstdint>

#include "array_errors.h"

namespace flashtrain_errors {

constexpr double kCutExponent = 4;

struct Cut {
    uint64_t seed;
    double passed;  // of the operation's time, in [0, 1]

    // A page whose zeros were being programmed; how many are missing.
    uint32_t program(const Place& at, uint8_t* bytes, uint32_t count) const {
        return set(PROGRAM_CUT, at, bytes, count, std::pow(1 - passed, kCutExponent));
    }

    // A page that was being erased; how many zeros are left.
    uint32_t erase(const Place& at, uint8_t* bytes, uint32_t count) const {
        uint32_t zeros = 0;
        for (uint32_t i = 0; i < 8 * count; ++i) zeros += !(bytes[i / 8] >> i % 8 & 1);
        return zeros - set(ERASE_CUT, at, bytes, count, std::pow(passed, kCutExponent));
    }

  private:
    // Each zero is a one with this probability; how many are.
    uint32_t set(Purpose purpose, const Place& at, uint8_t* bytes, uint32_t count, double probability) const {
        const uint64_t key = key_of({seed, purpose, at.channel, at.die, at.plane, at.block, at.page, at.erases, 0});
        uint32_t ones = 0;
        for (uint32_t i = 0; i < 8 * count; ++i) {
            if (bytes[i / 8] >> i % 8 & 1 || fraction(draw(key, i)) > probability) continue;
            bytes[i / 8] |= 1 << i % 8;
            ++ones;
        }
        return ones;
    }
};

}  // namespace flashtrain_errors
