// A file cut into lines, one at a time. For the readers of this folder.
#pragma once

#include <string>
#include <string_view>

#include "schema/formats/line_blocks.h"

namespace actorflow {

class LineReader {
 public:
  static constexpr std::size_t max_line_bytes = std::size_t{64} << 20;

  explicit LineReader(SourceRef source)
      : blocks_(std::move(source), {},
                {.block_bytes = std::size_t{1} << 18, .max_line_bytes = max_line_bytes}) {}

  // The next line with its "\n", which the last one may lack; valid until the next call. False at the
  // end. Throws invalid_argument for a line above the limit.
  bool next(std::string_view& line);
  std::uint64_t number() const { return number_; }  // of the last line, from 1
  const std::string& file() const { return blocks_.file(); }

 private:
  LineBlocks blocks_;
  std::string_view run_;  // what is left of it
  std::uint64_t number_ = 0;
};

}  // namespace actorflow
