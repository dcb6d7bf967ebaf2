// Steps of tiles: the micro-programs of flashtrain.spec.optimizer on arrays, and the statistics of gradients.
//
// Every operation is rounded once. A loop has one operation, so that a compiler can fuse none of them.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "clones.h"

namespace {

constexpr int BLOCK = 256;        // parameters at a time, so that all values stay in the nearest cache
constexpr int MOST_VALUES = 64;   // inputs, constants and results of a program
constexpr int SUMS = 8;           // PARTIAL_SUMS
constexpr int ROUNDS = 12;        // of flashtrain.spec.state_format
constexpr int SCALE_GROUP = 32;   // numbers of FP8 with one scale
constexpr int NAN_SCALE = 0xFF, SCALED_NAN = 0x7F;
constexpr uint32_t NAN_BITS = 0x7FC00000, INFINITY_BITS = 0x7F800000, SIGN_BIT = 0x80000000;

// Numbers as in flashtrain.spec.optimizer.
enum Op : int32_t { MUL, ADD, SUB, FMA, DIV, SQRT, SIGN };
enum Format : int32_t { FP32, FP16, BF16 };
enum StateFormat : int32_t { STATE_FP32, STATE_BF16, STATE_FP8, STATE_SPLIT };

using Block = float[BLOCK];

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float canonical(float value) { return value != value ? float_of(NAN_BITS) : value; }

inline float from_float16(uint32_t half) {
  const uint32_t magnitude = half & 0x7FFF;
  const uint32_t finite = bits_of(float_of(magnitude << 13) * 0x1p112f);
  const uint32_t bits = magnitude > 0x7C00 ? NAN_BITS : magnitude == 0x7C00 ? INFINITY_BITS : finite;
  return magnitude > 0x7C00 ? float_of(bits) : float_of(bits | (half & 0x8000) << 16);
}

inline uint16_t to_float16(float value) {
  const uint32_t bits = bits_of(value), magnitude = bits & ~SIGN_BIT;
  const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
  const uint32_t normal = (magnitude + 0xC8000FFF + (magnitude >> 13 & 1)) >> 13;
  const uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
  const uint32_t half = magnitude >= 0x47800000 ? 0x7C00 : finite;
  return magnitude > INFINITY_BITS ? 0x7E00 : half | (bits >> 16 & 0x8000);
}

inline uint16_t to_bfloat16(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return (bits & ~SIGN_BIT) > INFINITY_BITS ? NAN_BITS >> 16 : rounded;
}

// The permutation of flashtrain.spec.state_format, of a block of numbers.
inline void permute(const uint32_t* constants, uint64_t* values, int count) {
  constexpr uint64_t HALF = 0xFFFFFF;
  const auto rotated = [](uint32_t half, int bits) { return (half << bits | half >> (24 - bits)) & HALF; };
  for (int i = 0; i < count; ++i) {
    uint32_t left = values[i] >> 24 & HALF, right = values[i] & HALF;
    for (int round = 0; round < ROUNDS; ++round) {
      const uint32_t mixed = (rotated(left, 1) & rotated(left, 8)) ^ rotated(left, 2);
      const uint32_t next = right ^ mixed ^ constants[round];
      right = left, left = next;
    }
    values[i] = uint64_t(left) << 24 | right;
  }
}

inline uint32_t magnitude_of(float value) { return bits_of(value) & ~SIGN_BIT; }

}  // namespace

extern "C" {

// `ScaledFormat` of flashtrain.spec.state_format.
struct Scaled {
  int32_t mantissa_bits, bias, infinity, keeps_least;
};

// An operation: its kind, and the numbers of its operands among inputs, constants and results.
struct Operation {
  int32_t op, operands[3];
};

struct Step {
  int32_t operations, arrays, parameters;
  int32_t gradient_format, copy_format;
  int32_t first_constant, constants, first_result;
  int32_t outputs[3];      // the numbers of the new arrays
  int32_t first_byte[3];   // of each array in the tile
  int32_t first_scale[3];  // the byte with the first scale of each array
  int32_t formats[3];      // StateFormat of each array
  Scaled scaled[3];        // of each array in FP8
  int32_t stochastic, first_zone, first_page;
  uint64_t key;  // of the random bits
  uint32_t round_constants[ROUNDS];
  float constant[8];
  Operation operation[MOST_VALUES];
};

struct Statistics {
  int64_t nans, infinities, tiles;
  float largest;
  float squares[SUMS];
};

// Pages of a kind, state or gradients: `stride` bytes from one of a tile to the next.
struct Pages {
  uint8_t* first;
  int64_t page_bytes, stride;
};

struct Tile {
  int64_t die;              // the number of its statistics
  int64_t zone, place;      // the place without its zone, and the zone of the device
  int64_t state, gradient;  // bytes from the first pages of these kinds to the tile's
};

}  // extern "C"

namespace {

// Numbers in FP8 and their scales: those of groups that follow each other.
inline void load_scaled(const Scaled& form, const uint8_t* codes, const uint8_t* scales, float* out, int count) {
  const int mantissa = form.mantissa_bits, least = mantissa + form.bias;
  const uint32_t at_infinity = form.infinity == SCALED_NAN ? NAN_BITS : INFINITY_BITS;
  for (int start = 0; start < count; start += SCALE_GROUP) {
    const int shared = scales[start / SCALE_GROUP], scale = shared < least ? least : shared;
    const float unit = float_of(uint32_t(1 + scale - least) << 23);
    for (int i = start; i < start + SCALE_GROUP; ++i) {
      const uint32_t magnitude = codes[i] & 0x7F, sign = uint32_t(codes[i] & 0x80) << 24;
      const int exponent = int(magnitude >> mantissa) - form.bias + scale;
      const uint32_t normal = (uint32_t(exponent) << 23) + (magnitude << (23 - mantissa) & 0x7FFFFF);
      const uint32_t finite = exponent > 254 ? INFINITY_BITS : normal;
      const uint32_t number = magnitude >> mantissa ? finite : bits_of(float(int32_t(magnitude)) * unit);
      const uint32_t special = magnitude > uint32_t(form.infinity) ? NAN_BITS : at_infinity;
      const uint32_t all = magnitude < uint32_t(form.infinity) ? number : special;
      out[i] = float_of(shared == NAN_SCALE || all == NAN_BITS ? NAN_BITS : all | sign);
    }
  }
}

// The same back; array k of the random bits, or to nearest even without any.
inline void store_scaled(const Scaled& form, const float* values, const uint64_t* random, int k, uint8_t* codes,
                         uint8_t* scales, int count) {
  const int mantissa = form.mantissa_bits, least = mantissa + form.bias;
  const int top = form.infinity == SCALED_NAN ? form.bias + 1 : form.bias;
  for (int start = 0; start < count; start += SCALE_GROUP) {
    uint32_t largest = 0;
    for (int i = start; i < start + SCALE_GROUP; ++i) {
      const uint32_t finite = magnitude_of(values[i]) < INFINITY_BITS ? magnitude_of(values[i]) : 0;
      largest = finite > largest ? finite : largest;
    }
    // A mantissa above 1.75, that of the largest number, is one of the next power of two.
    const int wanted = int((largest + (1 << 21) - 1) >> 23) - top, scale = wanted < least ? least : wanted;
    scales[start / SCALE_GROUP] = uint8_t(scale);
    for (int i = start; i < start + SCALE_GROUP; ++i) {
      const uint32_t magnitude = magnitude_of(values[i]), field = magnitude >> 23;
      const uint32_t wide = field ? (magnitude & 0x7FFFFF) | 0x800000 : magnitude;
      const int own = int(field ? field : 1) - scale + form.bias, exponent = own < 1 ? 1 : own;
      const int cut = 23 - mantissa + exponent - own;
      uint32_t units;
      if (random) {
        const int most = cut > 48 ? 48 : cut;  // nothing is left
        const uint32_t chance = random[i] >> 16 * k & 0xFFFF;
        units = ((((wide >> (most - 17)) + 1) >> 1) + chance) >> 16;
      } else {
        const int most = cut > 26 ? 26 : cut;
        units = (wide + (1u << (most - 1)) - 1 + (wide >> most & 1)) >> most;
      }
      uint32_t code = (uint32_t(exponent - 1) << mantissa) + units;
      code = form.keeps_least && !code && magnitude ? 1 : code;
      code = magnitude < INFINITY_BITS ? code : magnitude > INFINITY_BITS ? SCALED_NAN : form.infinity;
      codes[i] = uint8_t(code == SCALED_NAN ? code : code | (bits_of(values[i]) >> 24 & 0x80));
    }
  }
}

// Part of the pages of a tile, from byte `at` on.
template <class Move>
inline void each_page(const Pages& of, int64_t offset, int64_t at, int64_t bytes, Move move) {
  for (int64_t done = 0; done < bytes;) {
    const int64_t page = (at + done) / of.page_bytes, within = (at + done) % of.page_bytes;
    const int64_t count = bytes - done < of.page_bytes - within ? bytes - done : of.page_bytes - within;
    move(of.first + offset + page * of.stride + within, done, count);
    done += count;
  }
}

inline void load(const Pages& from, int64_t offset, int64_t at, void* out, int64_t bytes) {
  each_page(from, offset, at, bytes, [&](const uint8_t* page, int64_t done, int64_t count) {
    std::memcpy(static_cast<uint8_t*>(out) + done, page, count);
  });
}

inline void store(const Pages& to, int64_t offset, int64_t at, const void* data, int64_t bytes) {
  each_page(to, offset, at, bytes, [&](uint8_t* page, int64_t done, int64_t count) {
    std::memcpy(page, static_cast<const uint8_t*>(data) + done, count);
  });
}

}  // namespace

extern "C" {

// Step tiles in their order, in place; copies take the place of gradients, which are read before.
CLONES void flashtrain_tiles(const Step* step, int64_t count_of_tiles, const Tile* tiles, const Pages* state,
                             const Pages* gradients, int64_t copy_pages, Statistics* statistics) {
  alignas(64) Block values[MOST_VALUES];
  const int64_t n = step->parameters;
  for (int k = 0; k < step->constants; ++k) {
    for (int i = 0; i < BLOCK; ++i) values[step->first_constant + k][i] = step->constant[k];
  }
  for (int64_t each = 0; each < count_of_tiles; ++each) {
    const Tile& tile = tiles[each];
    Statistics& own = statistics[tile.die];
    constexpr int64_t kZone = 0xFFF, kPage = kZone << 12;
    const int64_t page = (tile.place - (int64_t(step->first_page) << 12)) & kPage;
    const int64_t zone = (tile.zone - step->first_zone) & kZone;
    uint64_t key = step->key ^ uint64_t((tile.place & ~kPage) | page | zone);
    permute(step->round_constants, &key, 1);
    uint32_t largest = bits_of(own.largest);
    int64_t nans = 0, infinities = 0;
    alignas(64) float squares[SUMS];
    std::memcpy(squares, own.squares, sizeof squares);
    for (int64_t start = 0; start < n; start += BLOCK) {
      const int count = n - start < BLOCK ? int(n - start) : BLOCK;
      uint16_t halves[BLOCK], lower[BLOCK];
      uint8_t codes[BLOCK], scales[BLOCK / SCALE_GROUP];
      const int groups = count / SCALE_GROUP;
      for (int k = 0; k < step->arrays; ++k) {
        if (step->formats[k] == STATE_FP8) {
          load(*state, tile.state, step->first_byte[k] + start, codes, count);
          load(*state, tile.state, step->first_scale[k] + start / SCALE_GROUP, scales, groups);
          load_scaled(step->scaled[k], codes, scales, values[k], count);
        } else if (step->formats[k] == STATE_BF16) {
          load(*state, tile.state, step->first_byte[k] + 2 * start, halves, 2 * count);
          for (int i = 0; i < count; ++i) values[k][i] = float_of(uint32_t(halves[i]) << 16);
        } else if (step->formats[k] == STATE_SPLIT) {
          load(*state, tile.state, step->first_byte[k] + 2 * start, halves, 2 * count);
          load(*state, tile.state, step->first_byte[k] + 2 * n + 2 * start, lower, 2 * count);
          for (int i = 0; i < count; ++i) {
            values[k][i] = float_of((uint32_t(halves[i]) << 16) + uint32_t(int32_t(int16_t(lower[i]))));
          }
        } else {
          load(*state, tile.state, step->first_byte[k] + 4 * start, values[k], 4 * count);
        }
      }
      float* g = values[3];
      if (step->gradient_format == FP32) {
        load(*gradients, tile.gradient, 4 * start, g, 4 * count);
      } else {
        load(*gradients, tile.gradient, 2 * start, halves, 2 * count);
        if (step->gradient_format == FP16) {
          for (int i = 0; i < count; ++i) g[i] = from_float16(halves[i]);
        } else {
          for (int i = 0; i < count; ++i) g[i] = canonical(float_of(uint32_t(halves[i]) << 16));
        }
      }
      int of_nan = 0, of_infinity = 0;
      for (int i = 0; i < count; ++i) {
        const uint32_t magnitude = bits_of(g[i]) & ~SIGN_BIT;
        of_nan += magnitude > INFINITY_BITS;
        of_infinity += magnitude == INFINITY_BITS;
        const uint32_t number = magnitude > INFINITY_BITS ? 0 : magnitude;
        largest = number > largest ? number : largest;
      }
      nans += of_nan, infinities += of_infinity;
      int i = 0;
      for (; i + SUMS <= count; i += SUMS) {
        for (int k = 0; k < SUMS; ++k) squares[k] = __builtin_fmaf(g[i + k], g[i + k], squares[k]);
      }
      for (int k = 0; i + k < count; ++k) squares[k] = __builtin_fmaf(g[i + k], g[i + k], squares[k]);
      for (int o = 0; o < step->operations; ++o) {
        const Operation& operation = step->operation[o];
        const float *a = values[operation.operands[0]], *b = values[operation.operands[1]];
        const float* c = values[operation.operands[2]];
        float* __restrict result = values[step->first_result + o];
        switch (operation.op) {
          case MUL: for (int i = 0; i < count; ++i) result[i] = canonical(a[i] * b[i]); break;
          case ADD: for (int i = 0; i < count; ++i) result[i] = canonical(a[i] + b[i]); break;
          case SUB: for (int i = 0; i < count; ++i) result[i] = canonical(a[i] - b[i]); break;
          case FMA: for (int i = 0; i < count; ++i) result[i] = canonical(__builtin_fmaf(a[i], b[i], c[i])); break;
          case DIV: for (int i = 0; i < count; ++i) result[i] = canonical(a[i] / b[i]); break;
          case SQRT: for (int i = 0; i < count; ++i) result[i] = canonical(__builtin_sqrtf(a[i])); break;
          default:
            for (int i = 0; i < count; ++i) result[i] = canonical(a[i] == a[i] ? float(a[i] > 0) - float(a[i] < 0) : a[i]);
        }
      }
      uint64_t random[BLOCK];
      if (step->stochastic) {
        for (int i = 0; i < count; ++i) random[i] = key ^ uint64_t(start + i) << 24;
        permute(step->round_constants, random, count);
      }
      // w comes last: its halves are its copy.
      for (int k = step->arrays - 1; k >= 0; --k) {
        const float* result = values[step->outputs[k]];
        if (step->formats[k] == STATE_FP8) {
          store_scaled(step->scaled[k], result, step->stochastic ? random : nullptr, k, codes, scales, count);
          store(*state, tile.state, step->first_byte[k] + start, codes, count);
          store(*state, tile.state, step->first_scale[k] + start / SCALE_GROUP, scales, groups);
          continue;
        }
        if (step->formats[k] == STATE_FP32) {
          store(*state, tile.state, step->first_byte[k] + 4 * start, result, 4 * count);
          continue;
        }
        if (step->formats[k] == STATE_SPLIT) {
          for (int i = 0; i < count; ++i) {
            lower[i] = bits_of(result[i]);
            halves[i] = (bits_of(result[i]) + 0x8000) >> 16;
          }
          store(*state, tile.state, step->first_byte[k] + 2 * n + 2 * start, lower, 2 * count);
        } else if (step->stochastic) {
          for (int i = 0; i < count; ++i) {
            halves[i] = (bits_of(result[i]) + (random[i] >> 16 * k & 0xFFFF)) >> 16;
          }
        } else {
          for (int i = 0; i < count; ++i) halves[i] = to_bfloat16(result[i]);
        }
        store(*state, tile.state, step->first_byte[k] + 2 * start, halves, 2 * count);
      }
      const float* w = values[step->outputs[0]];
      if (step->formats[0] != STATE_FP32) {
        // The copy is what is stored.
      } else if (step->copy_format == FP16) {
        for (int i = 0; i < count; ++i) halves[i] = to_float16(w[i]);
      } else if (step->copy_format == BF16) {
        for (int i = 0; i < count; ++i) halves[i] = to_bfloat16(w[i]);
      }
      if (step->copy_format != FP32) {
        const int64_t room = copy_pages * gradients->page_bytes - 2 * start;
        if (room > 0) store(*gradients, tile.gradient, 2 * start, halves, room < 2 * count ? room : 2 * count);
      }
    }
    // Zeros from the last scales of an array up to the next word.
    for (int k = 0; k < step->arrays; ++k) {
      const int64_t end = step->first_scale[k] + n / SCALE_GROUP;
      const uint8_t zeros[3] = {};
      if (step->formats[k] == STATE_FP8) store(*state, tile.state, end, zeros, -end & 3);
    }
    const int64_t copied = step->copy_format == FP32 ? 0 : 2 * n;
    const int64_t rest = copy_pages * gradients->page_bytes - copied;
    each_page(*gradients, tile.gradient, copied, rest, [](uint8_t* page, int64_t, int64_t count) {
      std::memset(page, 0, count);
    });
    for (int k = 0; k < SUMS; ++k) own.squares[k] = canonical(squares[k]);
    own.largest = float_of(largest);
    own.nans += nans, own.infinities += infinities, own.tiles += 1;
  }
}

}  // extern "C"
