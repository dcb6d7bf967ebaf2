// A queue of bounded length.

#pragma once

#include <cstddef>
#include <vector>

namespace flashtrain {

template <typename Item>
class Ring {
  public:
    explicit Ring(size_t capacity = 1) {
        size_t size = 1;
        while (size < capacity) size *= 2;
        items_.resize(size);
    }

    size_t size() const { return written_ - read_; }
    bool empty() const { return written_ == read_; }
    bool full() const { return size() == items_.size(); }
    Item& operator[](size_t index) { return items_[(read_ + index) & (items_.size() - 1)]; }
    const Item& operator[](size_t index) const { return items_[(read_ + index) & (items_.size() - 1)]; }

    void push(const Item& item) {
        if (full()) grow();
        items_[written_++ & (items_.size() - 1)] = item;
    }
    Item pop() { return items_[read_++ & (items_.size() - 1)]; }

  private:
    void grow() {
        std::vector<Item> items(2 * items_.size());
        const size_t count = size();
        for (size_t i = 0; i < count; ++i) items[i] = (*this)[i];
        items_.swap(items);
        read_ = 0;
        written_ = count;
    }

    std::vector<Item> items_;
    size_t read_ = 0, written_ = 0;
};

}  // namespace flashtrain
