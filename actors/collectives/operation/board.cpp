#include "actors/collectives/operation/board.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "dataflow/values/borrowed_buffer.h"
#include "schema/io/shared_place.h"
#include "schema/link.h"

namespace actorflow {

// The words of a page, written by its rank.
struct Board::Head {
  std::uint64_t entered = 0;     // the newest use
  std::uint64_t shown[2] = {};   // the uses whose contributions are there
  std::uint64_t places[2] = {};  // each in the rank's shared memory, plus 1; 0: in the page
  std::uint64_t asleep = 0;      // the newest use in which it has given up looking
  std::uint64_t left = 0;        // the newest use whose contributions it no longer reads
  std::uint64_t summed[2] = {};  // the uses of which sums are there
  std::uint64_t slices[2] = {};  // bit s: that of slice s is
  std::uint64_t readers = 0;     // bit r: it has seen the page of rank r change
};

namespace {

constexpr std::size_t head_bytes = 2 * buffer_alignment;

std::size_t room_of(std::size_t bytes) {
  return (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
}

// With two ranks all that a slice saves is copied once more; what is small is added sooner than shared.
bool has_sums(int ranks, std::size_t bytes) { return ranks > 2 && bytes >= large_message_bytes; }

// Whether a smaller one would be copied by the message that lets it go, and not be held for who reads
// it.
bool is_shown_in_place(std::size_t bytes) { return bytes >= large_message_bytes; }

// The slices but for the last one, which may be smaller.
std::size_t slice_bytes(int ranks, std::size_t bytes) {
  return room_of((bytes + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks));
}

// A rank that writes a word and then reads another's, and that other rank, which does the same, never
// both miss what the other has written: hence the strictest order. Others' pages cannot be written,
// which std::atomic_ref does not know.
std::uint64_t read(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load();  // NOLINT
}
void write(std::uint64_t& word, std::uint64_t value) { std::atomic_ref(word).store(value); }

}  // namespace

Board::Board(int rank, int ranks, std::uint32_t version, std::size_t bytes)
    : rank_(rank), version_(version), bytes_(bytes), others_(static_cast<std::size_t>(ranks)) {}

// More than two ranks would show sums in pages, too.
bool Board::takes(int ranks, std::size_t bytes) {
  return bytes > 0 && ranks >= 2 && ranks <= most_ranks &&
         (ranks == 2 || !is_too_large_for_pages(ranks, bytes));
}

// The network shares large tensors only.
std::size_t Board::page_bytes(int ranks, std::size_t bytes) {
  const std::size_t of_contributions = is_too_large_for_pages(ranks, bytes) ? 0 : 2;
  const std::size_t rooms = of_contributions + (has_sums(ranks, bytes) ? 2 : 0);
  return std::max(head_bytes + rooms * room_of(bytes), large_message_bytes);
}

Tensor Board::make_page(BufferRef memory) {
  static_assert(sizeof(Head) <= head_bytes);
  Tensor page(DType::uint8, {static_cast<std::int64_t>(page_bytes(ranks(), bytes_))}, std::move(memory));
  own_.head = new (page.mutable_data()) Head;
  own_.memory = page;
  return page;
}

void Board::add_page(int rank, const Tensor& page) {
  const std::size_t size = page_bytes(ranks(), bytes_);
  if (!page.valid() || page.dtype() != DType::uint8 || page.size_bytes() != size) return;
  Page& other = others_[static_cast<std::size_t>(rank)];
  other.memory = page;
  other.head = static_cast<Head*>(other.memory.mutable_data());
  other.entered_at_first = read(other.head->entered);
}

void Board::enter(std::uint64_t use) {
  if (use == use_) return;
  use_ = use;
  has_shown_ = false;
  summed_ = 0;
  may_show_ = has_page();
  if (!has_page()) return;
  std::uint64_t readers = 0;
  for (std::size_t rank = 0; rank < others_.size(); ++rank) {
    Page& other = others_[rank];
    if (!other.head) continue;
    const std::uint64_t entered = read(other.head->entered);
    other.changes = other.changes || entered != other.entered_at_first;
    if (!other.changes) continue;
    readers |= std::uint64_t{1} << rank;
    may_show_ = may_show_ && entered + 1 >= use;
  }
  if (own_.head->readers != readers) write(own_.head->readers, readers);
  write(own_.head->entered, use);
  let_go_of(use - 1);
}

// Before that others may read it where it is.
void Board::let_go_of(std::uint64_t use) {
  Tensor& shown = in_place_[use % 2];
  if (!shown.valid()) return;
  for (std::size_t rank = 0; rank < others_.size(); ++rank)
    if (static_cast<int>(rank) != rank_ &&
        (!others_[rank].changes || read(others_[rank].head->left) < use))
      return;
  shown = {};
}

void Board::leave() {
  if (!has_page() || !is_shown_in_place(bytes_)) return;
  write(own_.head->left, use_);
  let_go_of(use_);
}

std::size_t Board::place_of_contribution() const { return head_bytes + use_ % 2 * room_of(bytes_); }

bool Board::show(int rank, const Tensor& contribution) {
  if (!may_show_ || !contribution.valid() || contribution.size_bytes() != bytes_) return false;
  if (!has_shown_) {
    const auto place =
        is_shown_in_place(bytes_) ? place_of(contribution.buffer(), own_.memory.buffer()) : std::nullopt;
    if (!place && is_too_large_for_pages(ranks(), bytes_)) return false;
    auto* const page = static_cast<std::byte*>(own_.memory.mutable_data());
    if (!place) std::memcpy(page + place_of_contribution(), contribution.data(), bytes_);
    in_place_[use_ % 2] = place ? contribution : Tensor();
    const std::uint64_t word = place ? *place + 1 : 0;
    if (own_.head->places[use_ % 2] != word) write(own_.head->places[use_ % 2], word);
    write(own_.head->shown[use_ % 2], use_);
    has_shown_ = true;
  }
  return in_touch(rank) && read(others_[static_cast<std::size_t>(rank)].head->asleep) != use_;
}

bool Board::in_touch(int rank) const {
  const Page& other = others_[static_cast<std::size_t>(rank)];
  return other.changes && (read(other.head->readers) >> rank_ & 1) != 0;
}

Tensor Board::shown_by(int rank) const {
  const Page& other = others_[static_cast<std::size_t>(rank)];
  if (!other.changes || read(other.head->shown[use_ % 2]) != use_ || !in_touch(rank)) return {};
  const std::uint64_t place = read(other.head->places[use_ % 2]);
  const BufferRef& page = other.memory.buffer();
  return {
      DType::uint8,
      {static_cast<std::int64_t>(bytes_)},
      place == 0 ? part_of(page, place_of_contribution(), bytes_) : bytes_at(place - 1, bytes_, page)};
}

bool Board::has_small_contributions() const { return !is_shown_in_place(bytes_); }

Bytes Board::small_one_shown_by(int rank) const {
  const Page& other = others_[static_cast<std::size_t>(rank)];
  if (!other.changes || read(other.head->shown[use_ % 2]) != use_ || !in_touch(rank)) return {};
  return {static_cast<const std::byte*>(other.memory.data()) + place_of_contribution(), bytes_};
}

Board::Slice Board::slice(int number) const {
  const std::size_t each = slice_bytes(ranks(), bytes_);
  const std::size_t begin = std::min(static_cast<std::size_t>(number) * each, bytes_);
  return {begin, std::min(each, bytes_ - begin)};
}

bool Board::shares_sums() const { return has_shown_ && has_sums(ranks(), bytes_); }

std::size_t Board::place_of_sum(int slice) const {
  return head_bytes + (2 + use_ % 2) * room_of(bytes_) + this->slice(slice).begin;
}

std::span<std::byte> Board::place_for_sum(int slice) {
  auto* const page = static_cast<std::byte*>(own_.memory.mutable_data());
  return {page + place_of_sum(slice), this->slice(slice).size};
}

void Board::show_sum(int slice) {
  const bool first = summed_ == 0;
  summed_ |= std::uint64_t{1} << slice;
  write(own_.head->slices[use_ % 2], summed_);
  if (first) write(own_.head->summed[use_ % 2], use_);
}

Bytes Board::sum_of_slice(int slice) const {
  for (std::size_t rank = 0; rank < others_.size(); ++rank) {
    const Page& other = others_[rank];
    if (!other.changes || read(other.head->summed[use_ % 2]) != use_) continue;
    if ((read(other.head->slices[use_ % 2]) >> slice & 1) == 0 || !in_touch(static_cast<int>(rank)))
      continue;
    return {static_cast<const std::byte*>(other.memory.data()) + place_of_sum(slice),
            this->slice(slice).size};
  }
  return {};
}

void Board::sleep() {
  if (has_page()) write(own_.head->asleep, use_);
}

std::vector<Tensor> Board::still_read() const {
  std::vector<Tensor> tensors;
  for (const Tensor& tensor : in_place_) {
    if (tensor.valid()) tensors.push_back(tensor);
  }
  return tensors;
}

}  // namespace actorflow
