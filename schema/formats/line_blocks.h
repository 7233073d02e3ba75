// The lines of a split of a text file, many at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "schema/formats/byte_source.h"
#include "schema/formats/split.h"

namespace actorflow {

// The limits of LineBlocks.
struct LineLimits {
  std::size_t block_bytes = std::size_t{1} << 20;
  std::size_t max_line_bytes = std::size_t{1} << 30;
  const char* advice = "is it a text file?";  // ends the message about a line above that
};

// Gives the lines that begin in a split as runs of whole lines, of about a block each. Not thread-safe.
class LineBlocks {
 public:
  // The source gives the file from its beginning; of `split` only begin and end count.
  explicit LineBlocks(SourceRef source, const Split& split = {}, const LineLimits& limits = {})
      : source_(std::move(source)), split_(split), limits_(limits) {}

  // The next lines with their ends, "\n" or "\r\n", which the last line of the file may lack; empty at
  // the end. Valid until the next call. Throws invalid_argument, naming file, offset and limit, for a
  // line above the limit.
  std::string_view next();
  std::uint64_t offset() const { return run_offset_; }  // in the file, of the run's first byte
  const std::string& file() const { return source_->name(); }

 private:
  std::uint64_t here() const { return offset_ + at_; }
  void find_first_line();
  std::size_t end_of_run();
  std::size_t find_end(std::size_t from) const;
  void read_more();

  SourceRef source_;
  Split split_;
  LineLimits limits_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;      // bytes in the buffer
  std::size_t at_ = 0;        // of the next line in the buffer
  std::size_t searched_ = 0;  // there is no end of line from at_ to here
  std::uint64_t offset_ = 0;  // of the buffer in the file
  std::uint64_t run_offset_ = 0;
  bool begun_ = false;
  bool ended_ = false;  // the file has no more bytes
};

// Calls f(line) for each line of a run, without its end.
template <class F>
void for_each_line(std::string_view lines, F&& f) {
  while (!lines.empty()) {
    const void* found = std::memchr(lines.data(), '\n', lines.size());
    const std::size_t end =
        found ? static_cast<std::size_t>(static_cast<const char*>(found) - lines.data()) : lines.size();
    const std::size_t text = end > 0 && lines[end - 1] == '\r' ? end - 1 : end;
    f(lines.substr(0, text));
    lines.remove_prefix(found ? end + 1 : end);
  }
}

}  // namespace actorflow
