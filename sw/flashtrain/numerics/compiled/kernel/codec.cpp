// The window code of flashtrain.spec.codec: whole appends to pages, and pages back to data.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "crc32.h"

namespace {

// Numbers as in flashtrain.spec.codec.
enum Mode : int32_t { RAW, MASK, WINDOW, WINDOW7 };
enum Refusal : int32_t { NONE, MAGIC, CHECK, CODEC, SLICES, OVERLAP };
constexpr int SLICE_BYTES = 32, ESCAPE = 7, DISTANCES = 9;
constexpr int PLANES[] = {0, 1, 3, 3}, EXPONENTS[] = {0, 0, 6, 7};

}  // namespace

extern "C" {

// What the contract says, from flashtrain.spec.codec: `low` are the lowest bits of the fields of a header.
struct Contract {
  int32_t codec, element_bytes, rounds;
  int32_t page_bytes, header_bytes, check_bytes;
  int32_t magic, version;
  struct {
    int32_t magic, version, codec, mode, last, base, first, total, slices;
  } low;
  int32_t first_mode, first_base, block, delay, middle, memory, fraction;
  int32_t sampled[4];
};

}  // extern "C"

namespace {

struct Choice {
  int mode, base;
};

class Header {
 public:
  Header() = default;
  explicit Header(const uint8_t* page) { std::memcpy(words_, page, sizeof words_); }
  void put(int low, uint64_t value) { words_[low / 64] |= value << low % 64; }
  uint32_t get(int low, int width) const { return words_[low / 64] >> low % 64 & ((1ull << width) - 1); }
  void clear(int low, int width) { words_[low / 64] &= ~(((1ull << width) - 1) << low % 64); }
  bool operator==(const Header& other) const {
    return words_[0] == other.words_[0] && words_[1] == other.words_[1];
  }
  void store(uint8_t* page) const { std::memcpy(page, words_, sizeof words_); }

 private:
  uint64_t words_[2] = {0, 0};
};

// Fields of a header that is known to have the right constants: everything else of it is 0.
Header packed(const Contract& c, Choice choice, uint32_t first, uint32_t slices, uint32_t total) {
  Header header;
  header.put(c.low.magic, c.magic), header.put(c.low.version, c.version), header.put(c.low.codec, c.codec);
  header.put(c.low.mode, choice.mode), header.put(c.low.base, choice.base), header.put(c.low.first, first);
  header.put(c.low.slices, slices), header.put(c.low.last, total != 0), header.put(c.low.total, total);
  return header;
}

template <int BYTES>
struct Element;
template <>
struct Element<2> {
  using Word = uint16_t;
  static constexpr int MANTISSA = 7;
  static Word swapped(Word word) { return __builtin_bswap16(word); }
};
template <>
struct Element<4> {
  using Word = uint32_t;
  static constexpr int MANTISSA = 23;
  static Word swapped(Word word) { return __builtin_bswap32(word); }
};

template <int BYTES>
class Code {
 public:
  using Word = typename Element<BYTES>::Word;
  static constexpr int COUNT = SLICE_BYTES / BYTES, MANTISSA = Element<BYTES>::MANTISSA;
  static constexpr int PLANE_BYTES = COUNT / 8;

  explicit Code(const Contract& contract)
      : c(contract), end_(c.page_bytes - c.check_bytes), room_(end_ - c.header_bytes) {}

  int64_t encode(const uint8_t* data, int64_t slices, uint8_t* pages);
  int decode(const uint8_t* page, uint32_t index, uint32_t pages, uint32_t slices, uint8_t* data) const;

 private:
  // The elements of a slice, rearranged: exponent, sign, mantissa from high to low.
  void load(const uint8_t* data, int64_t slice, Word* out) const {
    if (c.rounds) {
      uint32_t words[COUNT];
      std::memcpy(words, data + slice * 2 * SLICE_BYTES, sizeof words);
      for (int i = 0; i < COUNT; ++i) out[i] = rearranged(rounded(words[i]));
      return;
    }
    std::memcpy(out, data + slice * SLICE_BYTES, SLICE_BYTES);
    for (int i = 0; i < COUNT; ++i) out[i] = rearranged(out[i]);
  }

  static Word rearranged(Word word) {
    const Word mantissa = word & ((Word(1) << MANTISSA) - 1), sign = word >> (8 * BYTES - 1);
    return Word(word << 1 & ~((Word(1) << (MANTISSA + 1)) - 1)) | Word(sign << MANTISSA) | mantissa;
  }
  static Word restored(Word element) {
    const Word mantissa = element & ((Word(1) << MANTISSA) - 1), sign = element >> MANTISSA & 1;
    return Word(sign << (8 * BYTES - 1)) | Word(element >> (MANTISSA + 1) << MANTISSA) | mantissa;
  }
  static uint16_t rounded(uint32_t word) {
    const uint32_t upper = word >> 16;
    return (word & 0x7FFFFFFF) > 0x7F800000 ? upper | 0x40 : (word + (0x7FFF + (upper & 1))) >> 16;
  }
  static uint8_t exponent(Word element) { return element >> (8 * BYTES - 8); }

  int least_slices(int mode) const { return room_ / (SLICE_BYTES + PLANES[mode] * PLANE_BYTES); }

  // Choices of mode and base.
  void track(const uint8_t* data, int64_t block);
  int next_mode(const int* sums) const;

  static void tables(Choice choice, uint8_t* lengths, Word* masks, Word* exponents);

  const Contract& c;
  const int end_, room_;
  Choice choice_{};
  std::array<int, DISTANCES + 1> sums_{};  // at the distances, then of +0.0
  bool summed_ = false;
  int recent_ = 0;
};

// Take the next block of slices into the choice.
template <int BYTES>
void Code<BYTES>::track(const uint8_t* data, int64_t block) {
  std::array<int, DISTANCES + 1> counts{};
  for (int sample : c.sampled) {
    Word elements[COUNT];
    load(data, block * c.block + sample, elements);
    for (Word element : elements) {
      if (!element) {
        ++counts[DISTANCES];
        continue;
      }
      recent_ = exponent(element);
      const uint8_t place = choice_.base - recent_ + 1;  // distance -1 is the first
      if (place < DISTANCES) ++counts[place];
    }
  }
  for (int k = 0; k <= DISTANCES; ++k) {
    const int old = sums_[k], lost = (old + (1 << c.memory) - 1) >> c.memory;
    sums_[k] = summed_ ? old - lost + (counts[k] << c.fraction) : counts[k] << (c.memory + c.fraction);
  }
  summed_ = true;
  const int elements = (4 * COUNT) << (c.memory + c.fraction);
  int reached = 0;
  for (int k = 0; k < DISTANCES; ++k) reached += sums_[k];
  const int outside = elements - sums_[DISTANCES] - reached;
  if (outside > reached && outside > elements / 32) {
    choice_ = {next_mode(sums_.data()), (recent_ + c.middle) & 0xFF};
    summed_ = false;
    return;
  }
  const int down = sums_[7] - sums_[1], up = sums_[0] - sums_[6];
  if (std::max(up, down) > elements / 64) {
    const bool rises = up > down;
    const int zeros = sums_[DISTANCES];
    if (rises) {
      std::copy_backward(sums_.begin(), sums_.begin() + DISTANCES - 1, sums_.begin() + DISTANCES);
    } else {
      std::copy(sums_.begin() + 1, sums_.begin() + DISTANCES, sums_.begin());
    }
    sums_[rises ? 0 : DISTANCES - 1] = 0;
    sums_[DISTANCES] = zeros;
    choice_.base = (choice_.base + (rises ? 1 : -1)) & 0xFF;
  }
  choice_.mode = next_mode(sums_.data());
}

template <int BYTES>
int Code<BYTES>::next_mode(const int* sums) const {
  const int elements = (4 * COUNT) << (c.memory + c.fraction), zeros = 8 * BYTES * sums[DISTANCES];
  int inside = 0;
  for (int k = 1; k <= EXPONENTS[WINDOW]; ++k) inside += sums[k];
  const int saved[] = {0, zeros - elements, zeros + 8 * inside - 3 * elements,
                       8 * (inside + sums[EXPONENTS[WINDOW7]]) - 3 * elements};
  int best = WINDOW7;
  for (int mode = WINDOW; mode >= RAW; --mode) best = saved[mode] > saved[best] ? mode : best;
  return saved[best] > saved[choice_.mode] + elements / 32 ? best : choice_.mode;
}

template <int BYTES>
int64_t Code<BYTES>::encode(const uint8_t* data, int64_t slices, uint8_t* pages) {
  choice_ = {c.first_mode, c.first_base};
  const int raw = least_slices(RAW), most = c.page_bytes / SLICE_BYTES;
  int credit = most / 2;
  int64_t tracked = 0, count = 0;
  for (int64_t first = 0; first < slices; ++count) {
    for (const int64_t blocks = std::max<int64_t>(0, first - c.delay) / c.block; tracked < blocks; ++tracked) {
      track(data, tracked);
    }
    Choice choice = choice_;
    if (credit < raw - least_slices(choice.mode)) choice.mode = RAW;
    const int mode = choice.mode, planes = PLANES[mode], stride = planes * PLANE_BYTES;
    const bool zero_class = mode == MASK || mode == WINDOW;
    uint8_t* const page = pages + count * c.page_bytes;
    uint8_t* plane = page + c.header_bytes;
    uint8_t* payload = page + end_;
    int64_t taken = 0;
    for (; first + taken < slices; ++taken) {
      Word elements[COUNT];
      uint8_t classes[COUNT], lengths[COUNT];
      load(data, first + taken, elements);
      int length = stride;
      for (int i = 0; i < COUNT; ++i) {
        const bool zero = zero_class && !elements[i];
        const uint8_t distance = choice.base - exponent(elements[i]);
        int kind = 0;
        if (mode == WINDOW) kind = zero ? 0 : std::min<int>(distance, ESCAPE - 1) + 1;
        if (mode == WINDOW7) kind = std::min<int>(distance, ESCAPE);
        if (mode == MASK) kind = !zero;
        classes[i] = kind;
        lengths[i] = zero ? 0 : EXPONENTS[mode] && kind != ESCAPE ? BYTES - 1 : BYTES;
        length += lengths[i];
      }
      if (length > payload - plane) break;
      uint8_t bits[3 * PLANE_BYTES] = {};
      for (int k = 0; k < planes; ++k) {
        for (int i = 0; i < COUNT; ++i) bits[k * PLANE_BYTES + i / 8] |= (classes[i] >> k & 1) << i % 8;
      }
      if (payload - plane >= length + BYTES) {
        for (int i = 0; i < COUNT; ++i) {
          const Word stored = Element<BYTES>::swapped(elements[i]);
          std::memcpy(payload - BYTES, &stored, BYTES);
          payload -= lengths[i];
        }
      } else {  // a whole word would reach into the planes
        for (int i = 0; i < COUNT; ++i) {
          for (int k = 0; k < lengths[i]; ++k) *--payload = elements[i] >> 8 * k;
        }
      }
      std::memcpy(plane, bits, stride);
      plane += stride;
    }
    std::memset(plane, 0, payload - plane);
    const bool last = first + taken == slices;
    packed(c, choice, first, taken, last ? slices : 0).store(page);
    const uint32_t check = crc32(page, end_);
    std::memcpy(page + end_, &check, sizeof check);
    credit = std::min(most, credit + int(taken) - raw);
    first += taken;
  }
  return count;
}

// Bytes of payload of each class, its bits of a payload that is an element's, and the exponent of the window.
template <int BYTES>
void Code<BYTES>::tables(Choice choice, uint8_t* lengths, Word* masks, Word* exponents) {
  const bool window = EXPONENTS[choice.mode] > 0, zero_class = choice.mode == MASK || choice.mode == WINDOW;
  for (int kind = 0; kind <= ESCAPE; ++kind) {
    const bool zero = zero_class && kind == 0, inside = window && kind != ESCAPE && !zero;
    lengths[kind] = zero ? 0 : inside ? BYTES - 1 : BYTES;
    masks[kind] = zero ? 0 : inside ? Word(Word(~Word(0)) >> 8) : Word(~Word(0));
    const uint8_t exponent = choice.base - kind + (zero_class ? 1 : 0);
    exponents[kind] = inside ? Word(exponent) << (8 * BYTES - 8) : 0;
  }
}

// Decode page `index` of an append of `pages`, to its place in the data; why it is refused.
template <int BYTES>
int Code<BYTES>::decode(const uint8_t* page, uint32_t index, uint32_t pages, uint32_t end, uint8_t* data) const {
  const Header header(page);
  const uint32_t first = header.get(c.low.first, 32), slices = header.get(c.low.slices, 16);
  const uint32_t total = header.get(c.low.total, 32);
  const bool last = header.get(c.low.last, 1);
  const Choice choice{int(header.get(c.low.mode, 2)), int(header.get(c.low.base, 8))};
  // Codec and `last` are judged later; all other bits are those of a header with these fields.
  Header own = packed(c, choice, first, slices, 0);
  own.put(c.low.total, total), own.clear(c.low.codec, 4), own.put(c.low.codec, header.get(c.low.codec, 4));
  own.put(c.low.last, last);
  if (!(own == header)) return MAGIC;
  uint32_t check;
  std::memcpy(&check, page + end_, sizeof check);
  if (check != crc32(page, end_)) return CHECK;
  if (int(header.get(c.low.codec, 4)) != c.codec) return CODEC;
  if (!slices || uint64_t(first) + slices > end || total != (last ? end : 0)) return SLICES;
  if (last != (first + slices == end)) return SLICES;
  const int mode = choice.mode, planes = PLANES[mode], stride = planes * PLANE_BYTES;
  const int64_t room = room_ - int64_t(slices) * stride;
  if (room < 0) return OVERLAP;
  uint8_t lengths[ESCAPE + 1];
  Word masks[ESCAPE + 1], exponents[ESCAPE + 1];
  tables(choice, lengths, masks, exponents);
  const uint8_t* const begin = page + c.header_bytes;
  const auto classes_of = [&](uint32_t slice, uint8_t* classes) {
    const uint8_t* plane = begin + slice * stride;
    for (int i = 0; i < COUNT; ++i) classes[i] = 0;
    for (int k = 0; k < planes; ++k) {
      for (int i = 0; i < COUNT; ++i) {
        classes[i] |= (plane[k * PLANE_BYTES + i / 8] >> i % 8 & 1) << k;
      }
    }
  };
  int64_t payload = 0;
  for (uint32_t slice = 0; slice < slices; ++slice) {
    uint8_t classes[COUNT];
    classes_of(slice, classes);
    for (int i = 0; i < COUNT; ++i) payload += lengths[classes[i]];
  }
  if (payload > room) return OVERLAP;
  if ((first == 0) != (index == 0) || last != (index == pages - 1)) return SLICES;
  const uint8_t* at = page + end_;
  for (uint32_t slice = 0; slice < slices; ++slice) {
    uint8_t classes[COUNT];
    Word words[COUNT];
    classes_of(slice, classes);
    for (int i = 0; i < COUNT; ++i) {
      Word stored;
      std::memcpy(&stored, at - BYTES, BYTES);
      words[i] = (Element<BYTES>::swapped(stored) & masks[classes[i]]) | exponents[classes[i]];
      at -= lengths[classes[i]];
    }
    for (int i = 0; i < COUNT; ++i) words[i] = restored(words[i]);
    if (c.rounds) {
      uint32_t wide[COUNT];
      for (int i = 0; i < COUNT; ++i) wide[i] = uint32_t(words[i]) << 16;
      std::memcpy(data + (uint64_t(first) + slice) * sizeof wide, wide, sizeof wide);
    } else {
      std::memcpy(data + (uint64_t(first) + slice) * sizeof words, words, sizeof words);
    }
  }
  return NONE;
}

}  // namespace

extern "C" {

// Encode so many slices; the number of pages.
int64_t flashtrain_encode(const Contract* contract, const uint8_t* data, int64_t slices, uint8_t* pages) {
  if (contract->element_bytes == 4) return Code<4>(*contract).encode(data, slices, pages);
  return Code<2>(*contract).encode(data, slices, pages);
}

// Decode all pages of an append, until one is refused; whether none is.
int flashtrain_decode(const Contract* contract, const uint8_t* pages, int64_t count, int64_t slices,
                      uint8_t* data) {
  for (int64_t index = 0; index < count; ++index) {
    const uint8_t* page = pages + index * contract->page_bytes;
    const int refusal = contract->element_bytes == 4
                            ? Code<4>(*contract).decode(page, index, count, slices, data)
                            : Code<2>(*contract).decode(page, index, count, slices, data);
    if (refusal != NONE) return 0;
  }
  return 1;
}

}  // extern "C"
