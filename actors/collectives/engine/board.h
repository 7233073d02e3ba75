// Small contributions without messages: ranks of one machine show each other what they bring, in memory
// that they share. A board is one name's, as long as the ranks mean the same by it.
//
// Each rank has a page, which it alone writes. It is sent to the others once, as a tensor; whether they
// get that memory or a copy of it they see from its use: a copy never changes. Two ranks are in touch
// once each has seen the other's page change, and says so on its own. Then neither sends its
// contribution to the other, unless that one sleeps: a rank that has looked in vain says that it does,
// and looks once more.
//
// A page has room for two uses in turn. What was shown two uses ago may be overwritten when all that
// might read it have entered the use after that. A contribution that lies in shared memory already is
// shown where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow {

// Belongs to an actor. The board of one rank.
class Board {
 public:
  static constexpr int most_ranks = 64;

  // `version`: of the agreement. `bytes`: of each contribution. REQUIRES: at most so many ranks.
  Board(int rank, int ranks, std::uint32_t version, std::size_t bytes);

  std::uint32_t version() const { return version_; }
  static std::size_t page_bytes(std::size_t bytes);
  // What our own page takes.
  std::size_t page_bytes() const { return has_page() ? page_bytes(bytes_) : 0; }
  // Makes our page, which is for all others, of memory of page_bytes(bytes).
  Tensor make_page(BufferRef memory);
  bool has_page() const { return own_.head != nullptr; }
  // The page of another rank. One of another size is none.
  void add_page(int rank, const Tensor& page);

  // We enter a use. The functions below belong to it.
  void enter(std::uint64_t use);
  // Shows our contribution. False if that rank needs a message.
  bool show(int rank, const Tensor& contribution);
  // Whether that rank shows what it brings, and sends it only if we sleep.
  bool in_touch(int rank) const;
  // What it shows, not valid before it does. Stays as it is until we enter the next use, or the other
  // drops its board: read it before its next message.
  Tensor shown_by(int rank) const;
  // What is not shown by now will be sent.
  void sleep();
  // What others may still be reading where it is: they must get it as a message before it is let go.
  std::vector<Tensor> still_read() const;

 private:
  struct Head;
  struct Page {
    Tensor memory;
    Head* head = nullptr;
    std::uint64_t entered_at_first = 0;
    bool changes = false;  // it is shared memory
  };
  std::size_t place_of_contribution() const;

  const int rank_;
  const std::uint32_t version_;
  const std::size_t bytes_;
  Page own_;
  Tensor in_place_[2];        // what we show where it is
  std::vector<Page> others_;  // by rank
  std::uint64_t use_ = 0;
  bool may_show_ = false, has_shown_ = false;
};

}  // namespace actorflow
