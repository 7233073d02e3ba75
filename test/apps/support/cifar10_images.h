// Images in CIFAR-10's binary version, for tests.
#pragma once

#include <cstdint>
#include <string>

namespace actorflow::test {

// Images whose pixels follow from their numbers; classes by turns.
inline std::string images_as_cifar10(int count) {
  std::string records;
  std::uint32_t state = 1;
  for (int image = 0; image < count; ++image) {
    records += static_cast<char>(image % 10);
    for (int i = 0; i < 3 * 32 * 32; ++i) {
      state = state * 1664525 + 1013904223;
      records += static_cast<char>(state >> 24);
    }
  }
  return records;
}

}  // namespace actorflow::test
