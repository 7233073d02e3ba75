// Boards: ranks of one machine show each other small contributions in memory that they share, without
// messages. There is a board for each name, valid as long as the ranks agree on the same operation for
// it.
//
// Each rank has a page, which it alone writes. It is sent to the others once, as a tensor. Whether they
// got the memory itself or a copy shows in use: a copy never changes. Two ranks are in touch once each
// has seen the other's page change, and says so on its own. Then neither sends its contribution to the
// other by a message, unless the other sleeps: a rank that has polled in vain announces that it is going
// to sleep, and looks once more.
//
// A page has room for two uses in turn. What was shown two uses ago may be overwritten when all that
// might read it have entered the use after that. A contribution that lies in shared memory already is
// shown where it is, and let go when all have left the use; one that is too large for a page is shown
// nowhere else.
//
// Where all would add much (shares_sums()), each rank adds some slices of all contributions, and shows
// these sums in its page, too (shared_sum.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/collectives/operation/arithmetic.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// One rank's side of a board. Used by its actor, or by the thread that holds the actor's lock.
class Board {
 public:
  static constexpr int most_ranks = 64;

  // `version`: the version of the agreement. `bytes`: the size of each contribution. REQUIRES: `ranks`
  // is at most most_ranks.
  Board(int rank, int ranks, std::uint32_t version, std::size_t bytes);

  int rank() const { return rank_; }
  std::uint32_t version() const { return version_; }
  static std::size_t page_bytes(int ranks, std::size_t bytes);
  // Whether contributions of this size may be shown, and whether only where they lie.
  static bool takes(int ranks, std::size_t bytes);
  static bool is_too_large_for_pages(int ranks, std::size_t bytes) {
    return bytes > most_bytes_in_pages / static_cast<std::size_t>(ranks);
  }
  // The bytes of this rank's own page.
  std::size_t page_bytes() const { return has_page() ? page_bytes(ranks(), bytes_) : 0; }
  // Makes our page, which is for all others, of memory of page_bytes(ranks, bytes).
  Tensor make_page(BufferRef memory);
  bool has_page() const { return own_.head != nullptr; }
  // The page of another rank. One of another size is none.
  void add_page(int rank, const Tensor& page);

  // Enters a use of the name, unless that has been done. The functions below belong to this use.
  void enter(std::uint64_t use);
  // Shows this rank's contribution. False if that other rank needs it as a message.
  bool show(int rank, const Tensor& contribution);
  // Whether that rank shows its contribution, and sends a message only if this rank sleeps.
  bool in_touch(int rank) const;
  // That rank's contribution; not valid before it is shown. It stays unchanged until this rank enters
  // the next use, or the other rank drops its board: read it before that rank's next message.
  Tensor shown_by(int rank) const;
  // The same, where contributions are too small to be shown where they are: in its page.
  bool has_small_contributions() const;
  Bytes small_one_shown_by(int rank) const;
  // A part of the sum of all contributions, as many as there are ranks.
  struct Slice {
    std::size_t begin = 0, size = 0;
  };
  Slice slice(int number) const;
  // Whether this rank shows its contribution to this use, and has room for sums beside it.
  bool shares_sums() const;
  // Where this rank makes the sum of a slice, which it shows then. REQUIRES: shares_sums().
  std::span<std::byte> place_for_sum(int slice);
  void show_sum(int slice);
  // The sum of a slice, by whichever other rank has made it; empty before one shows it. It stays as long
  // as what shown_by() gives.
  Bytes sum_of_slice(int slice) const;
  // Announces that this rank is going to sleep: what is not shown by now will be sent as a message.
  void sleep();
  // Leaves the use: this rank reads nothing more of what others have shown for it.
  void leave();
  // The contributions that others may still be reading in place: they must get these as messages before
  // the memory is released.
  std::vector<Tensor> still_read() const;

 private:
  // Of all ranks together: caches keep so much until it is added. Messages with more take less time.
  static constexpr std::size_t most_bytes_in_pages = std::size_t{16} << 20;

  struct Head;
  struct Page {
    Tensor memory;
    Head* head = nullptr;
    std::uint64_t entered_at_first = 0;
    bool changes = false;  // it is shared memory
  };
  int ranks() const { return static_cast<int>(others_.size()); }
  void let_go_of(std::uint64_t use);
  std::size_t place_of_contribution() const;
  std::size_t place_of_sum(int slice) const;

  const int rank_;
  const std::uint32_t version_;
  const std::size_t bytes_;
  Page own_;
  Tensor in_place_[2];        // what we show where it is
  std::vector<Page> others_;  // by rank
  std::uint64_t use_ = 0;
  bool may_show_ = false, has_shown_ = false;
  std::uint64_t summed_ = 0;  // bit s: this rank has shown the sum of slice s
};

}  // namespace actorflow
