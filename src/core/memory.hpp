// Scratch memory of a kernel: asked for once a call, given back at its end, aligned to cache lines.
#pragma once
#include <cstddef>
#include <new>

#ifdef ISA
namespace ISA {
namespace {
#endif

inline long round_up(long n, long multiple) { return (n + multiple - 1) / multiple * multiple; }

// `count` numbers, not set to anything
template <class T> class Scratch {
 public:
  explicit Scratch(long count)
      : data_(static_cast<T*>(::operator new(size_t(count) * sizeof(T), LINE))), count_(count) {}  // or MemoryError
  Scratch(long count, T value) : Scratch(count) {
    for (long i = 0; i < count; i++) data_[i] = value;
  }
  ~Scratch() { ::operator delete(data_, LINE); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  operator T*() { return data_; }
  operator const T*() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }

 private:
  static constexpr std::align_val_t LINE{64};
  T* data_;
  long count_;
};

#ifdef ISA
}  // namespace
}  // namespace ISA
#endif
