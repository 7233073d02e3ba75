#include "actors/jobs/engine/program_build.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/runtime/storage.h"
#include "schema/checksum.h"

namespace actorflow {
namespace {

struct Sought {
  std::uintptr_t code = 0;
  std::string library;
};

// 1 if the code lies in the object, which ends the search.
int look_into(dl_phdr_info* object, std::size_t, void* data) {
  auto& sought = *static_cast<Sought*>(data);
  for (const auto& segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || sought.code < begin || sought.code - begin >= segment.p_memsz)
      continue;
    sought.library = object->dlpi_name;
    return 1;
  }
  return 0;
}

void add_file(Checksum& checksum, const std::string& path) {
  const auto file = posix_storage().open(path);
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  for (std::uint64_t at = 0, size = file->size_bytes(); at < size;) {
    const auto bytes = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size - at));
    file->read(at, bytes);
    checksum.update(bytes);
    at += bytes.size();
  }
}

std::string build_of_this_process() {
  std::vector<std::string> files{"/proc/self/exe"};
  const std::string library = library_of(std::bit_cast<const void*>(&program_build));
  if (!library.empty()) files.push_back(library);
  return build_of(files);
}

}  // namespace

std::string library_of(const void* code) {
  Sought sought{std::bit_cast<std::uintptr_t>(code), {}};
  dl_iterate_phdr(look_into, &sought);
  return sought.library;
}

std::string build_of(const std::vector<std::string>& files) {
  Checksum checksum;
  for (const auto& path : files) add_file(checksum, path);
  return fmt::format("{:016x}", checksum.value());
}

const std::string& program_build() {
  static const std::string build = build_of_this_process();
  return build;
}

}  // namespace actorflow
