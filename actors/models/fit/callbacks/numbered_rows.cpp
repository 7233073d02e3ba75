#include "actors/models/fit/callbacks/numbered_rows.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <vector>

#include "actors/monitored/storage_error.h"
#include "actors/runtime/storage.h"

namespace actorflow {
namespace {

// The number of a row; none of a header.
std::optional<std::int64_t> number_of_row(std::string_view row) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// The text without the rows at its end that have this number or later ones, and without a row that is
// not complete. Rows of an earlier training, whose numbers end before, stay.
std::string_view without_rows_from(std::string_view text, std::int64_t first) {
  text = text.substr(0, text.rfind('\n') + 1);
  auto last = NumberedRows::all;
  while (!text.empty()) {
    const std::size_t begin = text.substr(0, text.size() - 1).rfind('\n') + 1;
    const auto number = number_of_row(text.substr(begin));
    if (!number || *number < first || *number > last) break;
    last = *number;
    text = text.substr(0, begin);
  }
  return text;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string NumberedRows::open(Runtime& runtime, Storage& storage, std::int64_t first) {
  storage_ = &storage;
  waiting_.clear();
  kept_ = 0;
  has_more_ = false;
  if (!storage.exists(path_)) return {};
  const auto bytes =
      with_storage_tries(runtime, "reading " + what_, [&] { return storage.read(path_); });
  const std::string_view kept = without_rows_from(text_of(bytes), first);
  kept_ = kept.size();
  has_more_ = kept.size() < bytes.size();
  return std::string(kept.substr(0, kept.find('\n')));
}

void NumberedRows::forget_from(std::int64_t first) {
  waiting_ = without_rows_from(waiting_, first);
  if (kept_ == 0) return;
  storage_allows("read " + what_, [&] {
    const auto bytes = storage_->read(path_);
    // Somebody else may have cut the file.
    const std::string_view text = text_of(bytes).substr(0, kept_);
    const std::uint64_t kept = without_rows_from(text, first).size();
    has_more_ = has_more_ || kept != kept_;
    kept_ = kept;
  });
}

void NumberedRows::write(std::string_view text) {
  waiting_ += text;
  // Of what is refused now a part may be there.
  has_more_ = !storage_allows("write " + what_, [&] {
    if (has_more_) return write_anew();
    storage_->append(path_, std::as_bytes(std::span(waiting_)));
  });
  if (has_more_) return;
  kept_ += waiting_.size();
  waiting_.clear();
}

void NumberedRows::write_anew() const {
  auto bytes = kept_ > 0 ? storage_->read(path_) : std::vector<std::byte>();
  bytes.resize(std::min<std::size_t>(bytes.size(), kept_));
  const auto more = std::as_bytes(std::span(waiting_));
  bytes.insert(bytes.end(), more.begin(), more.end());
  storage_->write_atomically(path_, bytes);
}

}  // namespace actorflow
