// Copies of records, most of which are small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace actorflow::detail {

// A size that the compiler knows: a copy is then a few instructions in place of a call.
template <std::size_t size>
using ConstantSize = std::integral_constant<std::size_t, size>;

// visit(size), with a constant where `size` is one of those that are worth a loop of their own.
template <class Visit>
void with_constant_size(std::size_t size, Visit visit) {
  switch (size) {
    case 8:
      return visit(ConstantSize<8>{});
    case 12:
      return visit(ConstantSize<12>{});
    case 16:
      return visit(ConstantSize<16>{});
    case 24:
      return visit(ConstantSize<24>{});
    case 32:
      return visit(ConstantSize<32>{});
    case 64:
      return visit(ConstantSize<64>{});
    case 100:
      return visit(ConstantSize<100>{});
    default:
      return visit(size);
  }
}

template <class Word>
void copy_ends(std::byte* to, const std::byte* from, std::size_t size) {
  Word first, last;
  std::memcpy(&first, from, sizeof(Word));
  std::memcpy(&last, from + size - sizeof(Word), sizeof(Word));
  std::memcpy(to, &first, sizeof(Word));
  std::memcpy(to + size - sizeof(Word), &last, sizeof(Word));
}

// Small records by two words that may overlap.
inline void copy_record(std::byte* to, const std::byte* from, std::size_t size) {
  struct Words {
    std::uint64_t words[2];
  };
  if (size > 2 * sizeof(Words))
    std::memcpy(to, from, size);
  else if (size >= sizeof(Words))
    copy_ends<Words>(to, from, size);
  else if (size >= sizeof(std::uint64_t))
    copy_ends<std::uint64_t>(to, from, size);
  else if (size >= sizeof(std::uint32_t))
    copy_ends<std::uint32_t>(to, from, size);
  else if (size > 0) {
    to[0] = from[0];
    to[size / 2] = from[size / 2];
    to[size - 1] = from[size - 1];
  }
}
template <std::size_t size>
void copy_record(std::byte* to, const std::byte* from, ConstantSize<size>) {
  std::memcpy(to, from, size);
}

}  // namespace actorflow::detail
