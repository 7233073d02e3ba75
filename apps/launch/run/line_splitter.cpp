#include "apps/launch/run/line_splitter.h"

namespace actorflow {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

void LineSplitter::add(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    rest_ += bytes.substr(0, end);
    if (end == bytes.npos) break;
    sink(rest_);
    rest_.clear();
    bytes.remove_prefix(end + 1);
  }
  while (rest_.size() > most_bytes) {
    std::size_t cut = most_bytes;
    while (cut > most_bytes - 4 && continues_character(rest_[cut])) --cut;
    sink(std::string_view(rest_).substr(0, cut));
    rest_.erase(0, cut);
  }
}

void LineSplitter::finish(const Sink& sink) {
  if (!rest_.empty()) sink(rest_);
  rest_.clear();
}

}  // namespace actorflow
