#include "actors/events/event_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// What TensorBoard takes for an event file.
constexpr std::string_view mark = "tfevents";

}  // namespace

EventReader::EventReader(Storage& storage, std::string folder)
    : storage_(storage), folder_(expect_path("EventReader", std::move(folder))) {}

std::vector<Event> EventReader::poll() {
  for (const auto& name : storage_.list(folder_))
    if (name.find(mark) != std::string::npos) files_.try_emplace(name, folder_ + "/" + name);
  for (auto& [name, file] : files_)
    if (!file.damaged) read(folder_ + "/" + name, file);
  return std::exchange(events_, {});
}

// In pieces, so that a large file takes the memory of its events only.
void EventReader::read(const std::string& path, File& file) {
  constexpr std::uint64_t piece_bytes = 1 << 20;
  const auto open = storage_.open(path);
  const std::uint64_t size = open->size_bytes();
  try {
    while (file.read_bytes < size) {
      std::vector<std::byte> piece(std::min(piece_bytes, size - file.read_bytes));
      open->read(file.read_bytes, piece);
      file.read_bytes += piece.size();
      file.records.feed(piece);
      while (const auto record = file.records.next()) events_.push_back(decode_event(*record));
    }
  } catch (const Error&) {
    file.damaged = true;
    throw;
  }
}

}  // namespace actorflow
