// The lines of a file, for the readers of this folder.
#pragma once

#include <string>
#include <string_view>

#include "schema/formats/byte_source.h"

namespace actorflow {

class LineReader {
 public:
  static constexpr std::size_t max_line_bytes = std::size_t{64} << 20;

  explicit LineReader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // The next line with its "\n", which the last one may lack; valid until the next call. False at the
  // end. Throws resource_exhausted for a line above the limit.
  bool next(std::string_view& line);
  std::uint64_t number() const { return number_; }  // of the last line, from 1
  const std::string& file() const { return source_->name(); }

 private:
  bool refill();

  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace actorflow
