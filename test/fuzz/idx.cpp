// IDX files, plain and compressed.
#include "test/fuzz/support/data_file.h"

using namespace actorflow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::read_all(fuzz::input(data, size), [](SourceRef source) { return read_idx(std::move(source)); });
  return 0;
}
