// Contributions that ranks show each other in shared memory.
#include "actors/collectives/operation/board.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

BOOST_AUTO_TEST_SUITE(board)

using namespace actorflow;

namespace {

constexpr std::size_t bytes = 200;

Tensor page_of(Board& board, std::size_t contribution = bytes) {
  return board.make_page(heap().allocate(Board::page_bytes(2, contribution)));
}

Tensor filled(std::uint64_t with) {
  Tensor tensor = Tensor::allocate(DType::uint8, {bytes});
  std::memset(tensor.mutable_data(), static_cast<int>(with % 251), bytes);
  return tensor;
}

// Two ranks with a board each, whose pages are the same memory.
struct Pair {
  explicit Pair(bool with_copies = false) {
    for (int rank = 0; rank < 2; ++rank) {
      const Tensor page = page_of(boards[rank]);
      boards[1 - rank].add_page(rank, with_copies ? page.clone() : page);
    }
  }
  void enter(std::uint64_t use) {
    for (auto& board : boards) board.enter(use);
  }
  // Each has seen the other's page change, and knows so.
  void get_in_touch() {
    enter(1);
    enter(2);
  }

  Board boards[2] = {{0, 2, 1, bytes}, {1, 2, 1, bytes}};
};

}  // namespace

BOOST_AUTO_TEST_CASE(ranks_that_share_memory_come_to_need_no_messages) {
  Pair pair;
  auto& [a, b] = pair.boards;
  pair.enter(1);
  BOOST_TEST(!a.show(1, filled(7)));
  BOOST_TEST(!b.shown_by(0).valid());
  pair.enter(2);
  BOOST_TEST(a.in_touch(1));
  BOOST_TEST(b.in_touch(0));
  BOOST_TEST(!b.shown_by(0).valid());
  BOOST_TEST(a.show(1, filled(8)));
  BOOST_TEST(identical(b.shown_by(0), filled(8)));
  pair.enter(3);
  BOOST_TEST(!b.shown_by(0).valid());
}

BOOST_AUTO_TEST_CASE(a_copy_of_a_page_is_found_out) {
  Pair pair(true);
  auto& [a, b] = pair.boards;
  for (std::uint64_t use = 1; use < 6; ++use) {
    pair.enter(use);
    BOOST_TEST(!a.show(1, filled(use)));
    BOOST_TEST(!b.shown_by(0).valid());
    BOOST_TEST(!b.in_touch(0));
  }
}

BOOST_AUTO_TEST_CASE(one_rank_that_has_a_copy_is_enough_for_messages) {
  Board a(0, 2, 1, bytes), b(1, 2, 1, bytes);
  a.add_page(1, page_of(b));
  b.add_page(0, page_of(a).clone());
  for (std::uint64_t use = 1; use < 6; ++use) {
    a.enter(use);
    b.enter(use);
    BOOST_TEST(!a.show(1, filled(use)));
    BOOST_TEST(!b.show(0, filled(use)));
    BOOST_TEST(!a.shown_by(1).valid());
    BOOST_TEST(!b.shown_by(0).valid());
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_sleeps_needs_a_message_in_that_use_only) {
  Pair pair;
  auto& [a, b] = pair.boards;
  pair.get_in_touch();
  b.sleep();
  BOOST_TEST(!a.show(1, filled(2)));
  pair.enter(3);
  BOOST_TEST(a.show(1, filled(3)));
}

// A rank may enter use after use that others have not entered, if those fail.
BOOST_AUTO_TEST_CASE(what_somebody_may_be_reading_is_not_overwritten) {
  Pair pair;
  auto& [a, b] = pair.boards;
  pair.get_in_touch();
  BOOST_TEST(a.show(1, filled(2)));
  const Tensor shown = b.shown_by(0);
  a.enter(3);
  BOOST_TEST(a.show(1, filled(3)));
  a.enter(4);
  BOOST_TEST(!a.show(1, filled(4)));
  BOOST_TEST(identical(shown, filled(2)));
  b.enter(3);
  BOOST_TEST(identical(b.shown_by(0), filled(3)));
  b.enter(4);
  BOOST_TEST(!b.shown_by(0).valid());
  pair.enter(5);
  BOOST_TEST(a.show(1, filled(5)));
  BOOST_TEST(identical(b.shown_by(0), filled(5)));
}

BOOST_AUTO_TEST_CASE(pages_and_contributions_of_another_size_are_none) {
  Board a(0, 2, 1, bytes), larger(1, 2, 1, 100'000);
  page_of(a);
  a.add_page(1, page_of(larger, 100'000));
  a.add_page(1, {});
  for (std::uint64_t use = 1; use < 4; ++use) {
    a.enter(use);
    larger.enter(use);
    BOOST_TEST(!a.in_touch(1));
  }
  Pair pair;
  pair.get_in_touch();
  BOOST_TEST(!pair.boards[0].show(1, Tensor::allocate(DType::uint8, {bytes + 1})));
}

BOOST_AUTO_TEST_CASE(a_page_is_counted_as_large_as_it_is) {
  Board small(0, 2, 1, bytes), large(0, 2, 1, 100'000);
  BOOST_TEST(small.page_bytes() == 0u);
  page_of(small);
  page_of(large, 100'000);
  BOOST_TEST(small.page_bytes() == 65'536u);
  BOOST_TEST(large.page_bytes() == 128u + 2 * 100'032u);
  BOOST_TEST(Board::page_bytes(3, bytes) == 65'536u);
  BOOST_TEST(Board::page_bytes(3, 100'000) == 128u + 4 * 100'032u, "with room for sums");
}

// Whoever sleeps gets a message, or has found what is there when it looked once more.
BOOST_AUTO_TEST_CASE(no_contribution_is_missed) {
  Pair pair;
  constexpr std::uint64_t uses = 20'000;
  std::atomic<std::uint64_t> messages[2] = {};  // the newest use for which a rank has one
  std::atomic<int> wrong = 0, shown = 0;
  const auto run = [&](int rank) {
    Board& board = pair.boards[rank];
    for (std::uint64_t use = 1; use <= uses; ++use) {
      board.enter(use);
      if (!board.show(1 - rank, filled(use))) messages[1 - rank] = use;
      Tensor theirs;
      const auto looks = static_cast<int>(use * 7919 % 300);
      for (int look = 0; look < looks && !theirs.valid(); ++look) theirs = board.shown_by(1 - rank);
      if (!theirs.valid()) {
        board.sleep();
        theirs = board.shown_by(1 - rank);
      }
      while (!theirs.valid() && messages[rank] < use) std::this_thread::yield();
      if (!theirs.valid()) continue;
      ++shown;
      if (!identical(theirs, filled(use))) ++wrong;
    }
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  BOOST_TEST(wrong == 0);
  BOOST_TEST(shown > 0);
}

BOOST_AUTO_TEST_SUITE_END()
