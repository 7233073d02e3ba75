#include "apps/launch/keeper/frames.h"

#include <cstdint>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t length_bytes = 4;
constexpr std::size_t most_bytes = 64 << 20;
constexpr std::size_t most_greeting = 512;
static_assert(most_greeting > FrameReader::frames_begin.size());

void add_length(std::string& bytes, std::size_t length) {
  if (length > most_bytes) throw Error(Code::resource_exhausted, "a frame is above 64 MiB");
  for (std::size_t i = 0; i < length_bytes; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
}

std::size_t length_in(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return length;
}

[[noreturn]] void fail() {
  throw Error(Code::data_loss, "what came from the other end is no frame of a keeper");
}

Frame parse(std::string_view bytes) {
  Frame frame;
  while (!bytes.empty()) {
    if (bytes.size() < length_bytes) fail();
    const std::size_t length = length_in(bytes);
    bytes.remove_prefix(length_bytes);
    if (length > bytes.size()) fail();
    frame.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (frame.empty()) fail();
  return frame;
}

}  // namespace

std::string encode(const Frame& frame) {
  std::string content;
  for (const auto& field : frame) {
    add_length(content, field.size());
    content += field;
  }
  std::string bytes;
  add_length(bytes, content.size());
  return bytes + content;
}

void FrameReader::add(std::string_view bytes) {
  bytes_.erase(0, taken_);
  taken_ = 0;
  bytes_ += bytes;
  if (begun_) return;
  const auto begin = bytes_.find(frames_begin);
  begun_ = begin != bytes_.npos;
  if (begun_)
    bytes_.erase(0, begin + frames_begin.size());
  else if (bytes_.size() > most_greeting)
    bytes_.erase(0, bytes_.size() - most_greeting);
}

std::optional<Frame> FrameReader::next() {
  const std::string_view rest = std::string_view(bytes_).substr(taken_);
  if (!begun_ || rest.size() < length_bytes) return {};
  const std::size_t length = length_in(rest);
  if (length > most_bytes) fail();
  if (rest.size() < length_bytes + length) return {};
  taken_ += length_bytes + length;
  return parse(rest.substr(length_bytes, length));
}

}  // namespace actorflow
