#include "actors/checkpoint/damage.h"

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/checkpoint/files/reader.h"
#include "actors/checkpoint/folder.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using Entries = std::span<const Manifest::Entry>;

// The first entries that are read together: of different names, and of so many bytes that opening their
// files anew, whose headers name all tensors, costs little beside them.
Entries first_group(Entries entries) {
  constexpr std::uint64_t enough_bytes = std::uint64_t{64} << 20;
  std::uint64_t bytes = 0;
  std::set<std::string_view> names;
  std::size_t count = 0;
  while (count < entries.size() && bytes < enough_bytes && names.insert(entries[count].name).second)
    bytes += entries[count++].size_bytes;
  return entries.first(count);
}

// Reads tensors, or slices, as if they were all that there is.
void read(Storage& storage, const std::string& folder, const Manifest& manifest, Entries entries) {
  Manifest part;
  part.global_step = manifest.global_step;
  part.block_bytes = manifest.block_bytes;
  part.files = manifest.files;
  part.tensors = {entries.begin(), entries.end()};
  std::vector<TensorRange> ranges;
  for (auto& entry : part.tensors) {
    entry.first_row = 0;
    entry.full_rows = -1;
    ranges.push_back({entry.name});
  }
  CheckpointReader(storage, folder, std::move(part), ranges).read_all();
}

// Reads all bytes. Calls `mistake` for each tensor that cannot be read, or for the manifest, and goes
// on.
void read_through(Storage& storage, const std::string& path,
                  const std::function<void(const Error&)>& mistake) {
  const std::string folder = folder_of(path);
  try {
    const Manifest manifest = read_manifest(storage, path);
    const auto try_reading = [&](Entries entries, const auto& failed) {
      try {
        read(storage, folder, manifest, entries);
      } catch (const Error& error) {
        failed(error);
      }
    };
    Entries rest = manifest.tensors;
    while (!rest.empty()) {
      const Entries group = first_group(rest);
      rest = rest.subspan(group.size());
      try_reading(group, [&](const Error&) {
        for (std::size_t i = 0; i < group.size(); ++i) try_reading(group.subspan(i, 1), mistake);
      });
    }
  } catch (const Error& error) {
    mistake(error);
  }
}

}  // namespace

std::vector<std::string> verify_checkpoint(Storage& storage, const std::string& path) {
  std::vector<std::string> mistakes;
  read_through(storage, path, [&mistakes](const Error& error) {
    if (mistakes.empty() || mistakes.back() != error.what()) mistakes.emplace_back(error.what());
  });
  return mistakes;
}

bool is_damaged(Storage& storage, const std::string& manifest_path) {
  bool damaged = false;
  read_through(storage, manifest_path, [&damaged](const Error& error) {
    damaged = damaged || error.code() == Code::data_loss || error.code() == Code::not_found;
  });
  return damaged;
}

}  // namespace actorflow
