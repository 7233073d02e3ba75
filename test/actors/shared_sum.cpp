// Sums that ranks make together in memory that they share.
#include "actors/collectives/operation/shared_sum.h"

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "actors/probes/point.h"
#include "test/support/contributions.h"

BOOST_AUTO_TEST_SUITE(shared_sum)

using namespace actorflow;
using test::contribution, test::serial;

namespace {

// Boards of ranks whose pages are the same memory, for float32 of that shape.
struct Boards {
  Boards(int ranks, const Shape& of_each) : shape(of_each) {
    const auto bytes = static_cast<std::size_t>(shape.elements()) * sizeof(float);
    for (int rank = 0; rank < ranks; ++rank)
      all.push_back(std::make_unique<Board>(rank, ranks, 1, bytes));
    for (int rank = 0; rank < ranks; ++rank) {
      const Tensor page = all[rank]->make_page(heap().allocate(Board::page_bytes(ranks, bytes)));
      for (int other = 0; other < ranks; ++other)
        if (other != rank) all[other]->add_page(rank, page);
    }
    for (std::uint64_t use = 1; use <= 2; ++use)
      for (const auto& board : all) board->enter(use);
  }
  int ranks() const { return static_cast<int>(all.size()); }

  // Enters the use, and shows what the rank brings. Whether no rank needs it as a message.
  bool show(int rank, std::uint64_t use) {
    all[rank]->enter(use);
    const Tensor own = contribution<float>(rank, shape, static_cast<int>(use));
    bool shown = true;
    for (int other = 0; other < ranks(); ++other)
      if (other != rank) shown = all[rank]->show(other, own) && shown;
    return shown;
  }

  // That rank's sum of what all show.
  Tensor sum(int rank, std::uint64_t use) {
    std::vector<Tensor> contributions;
    std::vector<Bytes> parts;
    for (int other = 0; other < ranks(); ++other) {
      Tensor part = contribution<float>(rank, shape, static_cast<int>(use));
      while (other != rank && !(part = all[rank]->shown_by(other)).valid()) std::this_thread::yield();
      parts.emplace_back(static_cast<const std::byte*>(part.data()), part.size_bytes());
      contributions.push_back(std::move(part));
    }
    const CollectiveCall call{.kind = CollectiveKind::all_reduce, .dtype = DType::float32};
    Tensor sum = Tensor::allocate(DType::float32, shape);
    reduce_together(*all[rank], call, parts, {.ranks = ranks()},
                    {static_cast<std::byte*>(sum.mutable_data()), sum.size_bytes()}, nullptr);
    return sum;
  }

  Tensor expected(std::uint64_t use) const {
    return serial<float>(ranks(), shape, static_cast<int>(use));
  }

  const Shape shape;
  std::vector<std::unique_ptr<Board>> all;
};

std::uint64_t slices_taken() {
  return Point::take_all().at("a sum that another rank has made of a slice is taken from its page");
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_ranks_and_small_contributions_have_no_sums_to_share) {
  for (const auto& [ranks, elements] : {std::pair{2, 20'000}, {3, 16'000}, {3, 16'400}}) {
    Boards boards(ranks, {elements});
    BOOST_TEST(!boards.all[0]->shares_sums(), "nothing is shown");
    BOOST_TEST(boards.show(0, 3));
    BOOST_TEST(boards.all[0]->shares_sums() == (ranks == 3 && elements == 16'400));
  }
}

BOOST_AUTO_TEST_CASE(a_rank_that_comes_late_finds_the_sums) {
  Boards boards(4, {30'001});
  slices_taken();
  for (int rank = 0; rank < 4; ++rank) BOOST_TEST(boards.show(rank, 3));
  BOOST_TEST(identical(boards.sum(0, 3), boards.expected(3)));
  BOOST_TEST(slices_taken() == 0u, "nobody else has made any");
  for (int rank = 1; rank < 4; ++rank) {
    BOOST_TEST(identical(boards.sum(rank, 3), boards.expected(3)));
    BOOST_TEST(slices_taken() == 4u);
  }
}

BOOST_AUTO_TEST_CASE(there_may_be_fewer_pieces_of_memory_than_ranks) {
  const int ranks = Board::most_ranks - 1;
  Boards boards(ranks, {16'400});
  BOOST_TEST(boards.all[0]->slice(ranks - 1).size == 0u);
  for (int rank = 0; rank < ranks; ++rank) BOOST_TEST(boards.show(rank, 3));
  for (const int rank : {ranks - 1, 0, 1})
    BOOST_TEST(identical(boards.sum(rank, 3), boards.expected(3)));
}

// Each use has other bits; a rank may be two uses behind another one's memory.
BOOST_AUTO_TEST_CASE(ranks_at_once_have_the_bits_of_the_serial_sum) {
  Boards boards(3, {20'000});
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      for (std::uint64_t use = 3; use < 300; ++use) {
        if (!boards.show(rank, use)) ++wrong;
        if (!identical(boards.sum(rank, use), boards.expected(use))) ++wrong;
      }
    });
  threads.clear();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()
