#include "actors/runtime/storage.h"

#include "dataflow/values/error.h"

namespace actorflow {

std::vector<std::byte> Storage::read(const std::string& path) {
  const auto file = open(path);
  std::vector<std::byte> bytes(file->size_bytes());
  file->read(0, bytes);
  return bytes;
}

std::unique_ptr<ScratchFile> Storage::scratch(const std::string& folder) {
  throw Error(Code::unimplemented,
              "this storage has no scratch files; one was wanted in '" + folder + "'");
}

void Storage::append_synced(const std::string& path, std::span<const std::byte>) {
  throw Error(Code::unimplemented, "this storage cannot sync what was appended to '" + path + "'");
}

void Storage::write_atomically(const std::string& path, std::span<const std::byte> bytes) {
  const auto file = create(path);
  file->write(bytes);
  file->commit();
}

}  // namespace actorflow
