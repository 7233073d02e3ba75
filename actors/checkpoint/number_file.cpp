#include "actors/checkpoint/number_file.h"

#include <charconv>
#include <span>

namespace actorflow {

std::optional<std::int64_t> read_number(Storage& storage, const std::string& path) {
  if (!storage.exists(path)) return std::nullopt;
  const auto bytes = storage.read(path);
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text, text + bytes.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

void write_number(Storage& storage, const std::string& path, std::int64_t number) {
  const std::string text = std::to_string(number) + "\n";
  storage.write_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace actorflow
