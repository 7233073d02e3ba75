// A text file of rows, each of which begins with a number, and which a disk may refuse for a while.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "actors/runtime/runtime.h"

namespace actorflow {

// The rows are in the file, `kept` bytes of it, or they wait because the disk has refused them. What the
// file has behind its kept bytes counts for nothing, and goes with the next row that is written. Errors
// of the disk are logged, but for those of open(). Not thread-safe.
class NumberedRows {
 public:
  // `what` is named in messages: "the log runs/log.csv".
  NumberedRows(std::string what, std::string path) : what_(std::move(what)), path_(std::move(path)) {}

  // No row is cut by this number.
  static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

  // Opens the file, which may not be there, with its rows below `first`, and returns its first line; ""
  // if it has none. Asks the disk several times; throws what it answers at last.
  std::string open(Runtime& runtime, Storage& storage, std::int64_t first);
  // Forgets the rows at the end that have this number or later ones.
  void forget_from(std::int64_t first);
  // Appends text, with the rows that wait. If the disk refuses them, they wait for the next call.
  void write(std::string_view text);

  // Text that comes with the next row.
  void write_later(std::string_view text) { waiting_ += text; }

  bool is_empty() const { return kept_ == 0 && waiting_.empty(); }
  bool any_waits() const { return !waiting_.empty(); }

 private:
  void write_anew() const;

  std::string what_, path_;
  Storage* storage_ = nullptr;
  std::uint64_t kept_ = 0;
  bool has_more_ = false;  // the file has, or may have, something behind its kept bytes
  std::string waiting_;    // in whole rows
};

}  // namespace actorflow
