// Targets that read files of data.
#pragma once

#include "schema/formats/element_reader.h"
#include "test/fuzz/support/target.h"
#include "test/schema/support/memory_source.h"

namespace actorflow::fuzz {

inline std::size_t bytes_of(const Tuple& element) {
  std::size_t bytes = 0;
  for (const auto& tensor : element) bytes += tensor.size_bytes();
  return bytes;
}

// Reads the file as a pipeline does, and once more after skipping its first elements, which must give
// the same ones. `make` opens a reader of a source.
template <class Make>
void read_all(Input file, Make&& make) {
  // What a file contains takes memory, what it announces does not: zstd makes at most 32768 bytes of one.
  const std::size_t most = (file.size() + 4096) * 32768;
  std::int64_t elements = 0;
  accepts([&] {
    const auto reader = make(test::memory(text(file)));
    for (Tuple element; reader->next(element); ++elements)
      require(bytes_of(element) <= most, "an element is no larger than its file");
    require(!reader->next(*std::make_unique<Tuple>()), "the end stays the end");
  });
  accepts([&] {
    const auto reader = make(test::memory(text(file)));
    const std::int64_t passed = reader->skip(elements / 2 + 1);
    require(passed <= elements / 2 + 1, "no more is passed over than was asked for");
    for (Tuple element; reader->next(element);) continue;
  });
}

}  // namespace actorflow::fuzz
