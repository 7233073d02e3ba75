#include "actors/jobs/engine/program_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/runtime/storage.h"
#include "schema/checksum.h"

namespace actorflow {
namespace {

std::string hash_of_executable() {
  const auto file = posix_storage().open("/proc/self/exe");
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  Checksum checksum;
  for (std::uint64_t at = 0, size = file->size_bytes(); at < size;) {
    const auto bytes = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size - at));
    file->read(at, bytes);
    checksum.update(bytes);
    at += bytes.size();
  }
  return fmt::format("{:016x}", checksum.value());
}

}  // namespace

const std::string& program_build() {
  static const std::string build = hash_of_executable();
  return build;
}

}  // namespace actorflow
