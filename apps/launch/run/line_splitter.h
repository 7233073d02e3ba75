// Bytes of a stream as whole lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace actorflow {

// Gives lines without their newlines. A line above the limit comes in parts, which are cut between two
// characters of UTF-8.
class LineSplitter {
 public:
  using Sink = std::function<void(std::string_view line)>;
  static constexpr std::size_t most_bytes = 1 << 20;

  void add(std::string_view bytes, const Sink& sink);
  // The last line, if it has no newline.
  void finish(const Sink& sink);

 private:
  std::string rest_;
};

}  // namespace actorflow
