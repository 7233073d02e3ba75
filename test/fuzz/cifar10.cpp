// CIFAR-10 files and text files, plain and compressed. The first byte chooses.
#include "test/fuzz/support/data_file.h"

using namespace actorflow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto file = fuzz::input(data, size);
  const bool lines = fuzz::take<std::uint8_t>(file) % 2 != 0;
  fuzz::read_all(file, [lines](SourceRef source) {
    return lines ? read_lines(std::move(source)) : read_cifar10(std::move(source));
  });
  return 0;
}
