// Which bits of a page a sense gets wrong, which programs and erases fail, and which operations hang.
//
// The same in NumPy: flashtrain.sim.nand.errors, where the parameters are explained. All is drawn from counters, so it
// depends on the seed, on the place and on what happened to that block, and on no order of operations.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace flashtrain_errors {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
constexpr double kMostWrong = 0.5;

// What numbers are drawn for.
enum Purpose : uint64_t {
    CELLS = 0,
    TRANSIENT = 1,
    PROGRAM = 2,
    ERASE = 3,
    TORN = 4,
    PROGRAM_CUT = 5,
    ERASE_CUT = 6,
    PROGRAM_HANG = 7,
    ERASE_HANG = 8,
    SENSE_HANG = 9,
};

// The finaliser of SplitMix64.
inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

inline uint64_t key_of(std::initializer_list<uint64_t> numbers) {
    uint64_t key = 0;
    for (const uint64_t number : numbers) key = mix((key ^ number) + kGolden);
    return key;
}

// Number `index` of the sequence that a key stands for.
inline uint64_t draw(uint64_t key, uint64_t index) { return mix(key + (index + 1) * kGolden); }

// In (0, 1].
inline double fraction(uint64_t number) { return static_cast<double>((number >> 11) + 1) * 0x1p-53; }

struct Wear {
    double rate, exponent;
    double at(double wear) const { return rate * std::pow(wear, exponent); }
};

struct Ageing {
    double rate, amount, wear_exponent, exponent;
    double at(double wear, double x) const {
        return rate * std::pow(wear, wear_exponent) * std::pow(x / amount, exponent);
    }
};

// A block, or a page of it, between two erases.
struct Place {
    uint64_t channel, die, plane, block, page, erases;
};

// Filled in by the host: the order of its members is part of the interface.
struct Model {
    uint64_t seed;
    double rated_cycles, cycles_before, fresh;
    Wear wear;
    Ageing retention, disturb;
    double transient, level_factor;
    Wear program_failure, erase_failure, hang;

    double wear_of(uint64_t erases) const { return (cycles_before + static_cast<double>(erases)) / rated_cycles; }

    double bit_error_rate(uint64_t erases, double days, uint64_t reads, int level) const {
        const double worn = wear_of(erases);
        const double either = fresh + wear.at(worn);
        const double lost = retention.at(worn, days);
        const double gained = disturb.at(worn, static_cast<double>(reads));
        return std::min(kMostWrong, either * std::pow(level_factor, std::abs(level)) +
                                        lost * std::pow(level_factor, -level) + gained * std::pow(level_factor, level));
    }

    uint64_t key(Purpose purpose, const Place& at, uint64_t sense = 0) const {
        return key_of({seed, purpose, at.channel, at.die, at.plane, at.block, at.page, at.erases, sense});
    }

    bool program_fails(const Place& at) const {
        return fraction(draw(key(PROGRAM, at), 0)) <= program_failure.at(wear_of(at.erases));
    }

    bool erase_fails(const Place& at) const {
        return fraction(draw(key(ERASE, at), 0)) <= erase_failure.at(wear_of(at.erases));
    }

    // Whether a die hangs from an operation on: one of the purposes _HANG.
    bool hangs(Purpose purpose, const Place& at, uint64_t sense = 0) const {
        return fraction(draw(key(purpose, at, sense), 0)) <= hang.at(wear_of(at.erases));
    }

    // Bits of a page of `bits` that its sense number `sense` gets wrong, in order.
    std::vector<uint32_t> wrong_bits(const Place& at, uint32_t bits, uint64_t sense, double rate) const {
        std::vector<uint32_t> wrong;
        const double expected = -std::log1p(-rate) * bits;
        add(wrong, key(CELLS, at), bits, expected * (1 - transient));
        add(wrong, key(TRANSIENT, at, sense), bits, expected * transient);
        std::sort(wrong.begin(), wrong.end());
        wrong.erase(std::unique(wrong.begin(), wrong.end()), wrong.end());
        return wrong;
    }

  private:
    // Cells in the order in which they fail as the rate grows: a Poisson process of one event per cell and unit of
    // the rate, so that a cell's first event is exponentially distributed, and independent of all others.
    static void add(std::vector<uint32_t>& wrong, uint64_t key, uint32_t bits, double until) {
        double reached = 0;
        for (uint64_t event = 0;; ++event) {
            reached -= std::log(fraction(draw(key, 2 * event)));
            if (!(reached < until)) return;
            wrong.push_back(static_cast<uint32_t>((draw(key, 2 * event + 1) >> 32) * bits >> 32));
        }
    }
};

}  // namespace flashtrain_errors
