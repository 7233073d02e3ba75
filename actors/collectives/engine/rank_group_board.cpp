// Contributions that the ranks of one machine show each other, in place of messages.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "actors/collectives/engine/rank_group.h"
#include "actors/collectives/operation/shared_sum.h"
#include "actors/probes/point.h"
#include "actors/runtime/clock.h"
#include "schema/io/shared_place.h"

namespace actorflow {

using namespace rank_messages;

namespace {

constexpr int looks_per_turn = 32;  // one in which nothing is there takes less than a microsecond
constexpr std::size_t added_per_us = 5000;  // bytes, by one core, and copied
constexpr std::chrono::microseconds longest_adding{2000};  // for which to look for others

Point read_from_board("what another rank shows is read in place of a message");
Point made_at_a_glance("a call is made on its own thread from what all ranks show");

void wait_a_few_cycles() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Calls look() again and again until it returns true, or for a while. Returns what it returned last.
template <class Look>
bool look_for(std::chrono::microseconds how_long, Look look) {
  for (std::optional<Clock::time_point> end;;) {
    for (int i = 0; i < looks_per_turn; ++i) {
      if (look()) return true;
      wait_a_few_cycles();
    }
    const auto now = steady_clock().now();
    if (!end) end = now + how_long;
    if (now >= *end) return false;
    std::this_thread::yield();  // those for whom we look may need this core
  }
}

}  // namespace

std::size_t RankGroup::page_bytes() const {
  std::size_t bytes = 0;
  for (const NamedOperation& named : names_.all())
    if (named.on_board.board) bytes += named.on_board.board->page_bytes();
  return bytes;
}

// None where a rank has no shared memory, or no room in it.
BufferRef RankGroup::memory_for_page(const CollectiveCall& call) const {
  const std::size_t size = Board::page_bytes(mail_.size(), contribution_bytes(call));
  BufferRef memory = mail_.task()->sending_device->allocator().allocate(size);
  return place_of(memory, memory) ? memory : BufferRef();
}

bool RankGroup::would_show(const GroupCall& call) const {
  if (!call.waits || !may_be_shown(call.call, mail_, options_)) return false;
  const BufferRef page = memory_for_page(call.call);
  if (!page) return false;
  return !Board::is_too_large_for_pages(mail_.size(), contribution_bytes(call.call)) ||
         place_of(call.own.tensor.buffer(), page);
}

// Without memory for it a rank has no page, and its contributions travel.
void RankGroup::make_page(const NamedOperation& named, Board& board) const {
  BufferRef memory = memory_for_page(named.agreed()->call);
  if (!memory) return;
  const Tensor page = board.make_page(std::move(memory));
  for (int rank = 0; rank < mail_.size(); ++rank)
    if (rank != mail_.rank()) mail_.to(rank, Page{named.of(), board.version(), mail_.rank()}, page);
}

// A name that is used once needs none.
void RankGroup::enter_board(NamedOperation& named) {
  const Agreed& agreed = *named.agreed();
  auto& [board, pages, woken_in, to_look] = named.on_board;
  if (board && board->version() != agreed.version) drop_board(named);
  if (named.used() == agreed.of.use) return;
  if (agreed.algorithm != Algorithm::direct || !may_be_shown(agreed.call, mail_, options_))
    return pages.clear();
  const std::size_t bytes = contribution_bytes(agreed.call);
  if (!board) {
    if (page_bytes() + Board::page_bytes(mail_.size(), bytes) > most_page_bytes) return pages.clear();
    make_page(named, board.emplace(mail_.rank(), mail_.size(), agreed.version, bytes));
  }
  for (const auto& [page, memory] : std::exchange(pages, {}))
    if (page.version == agreed.version) board->add_page(page.from, memory);
  board->enter(named.used());
  to_look = true;
}

// The network keeps what a message carries until all have got and dropped it.
void RankGroup::drop_board(NamedOperation& named) {
  auto& board = named.on_board.board;
  if (!board) return;
  for (const Tensor& tensor : board->still_read())
    for (int rank = 0; rank < mail_.size(); ++rank)
      if (rank != mail_.rank()) mail_.to(rank, LetGo{}, tensor);
  board.reset();
}

// It lies in its sender's memory, and stays as long as its board: it takes nothing of what may be on its
// way to us (ServerOptions::max_incoming_bytes). A copy would never change.
void RankGroup::on_page(const Page& page, const Tensor& memory) {
  if (options_.spin.count() == 0 || !stop_counting(memory.buffer())) return;
  NamedOperation& named = operation(page.of.name);
  if (named.version() > page.version) return;
  auto& pages = named.on_board.pages;
  std::erase_if(pages, [&](const auto& older) { return older.first.from == page.from; });
  pages.emplace_back(page, memory);
}

// One that a message of ours wakes takes longer than one that is awake. Where cores are fewer than
// ranks, others have still to add the use before.
std::chrono::microseconds RankGroup::time_to_look(const NamedOperation& named, std::uint64_t use) const {
  const std::size_t others_add =
      contribution_bytes(named.agreed()->call) * static_cast<std::size_t>(mail_.size());
  return options_.spin * (named.on_board.woken_in + 1 >= use ? 4 : 1) +
         std::min(std::chrono::microseconds(others_add / added_per_us), longest_adding);
}

// Looks for what the others show: again and again, for a while, if the caller waits anyway. Whether the
// contributions of all are there.
bool RankGroup::look_at_board(NamedOperation& named) {
  NamedOperation::Use& use = named.use();
  Board& board = *named.on_board.board;
  std::vector<int> missing;
  std::vector<std::pair<int, Tensor>> shown;
  for (int rank = 0; rank < mail_.size(); ++rank)
    if (rank != mail_.rank() && use.operation->needs(rank)) missing.push_back(rank);
  const auto rows =
      static_cast<std::int64_t>(contribution_bytes(use.call.call) / use.call.call.element_bytes());
  const auto take_shown = [&] {
    std::erase_if(missing, [&](int rank) {
      Tensor theirs = board.shown_by(rank);
      if (!theirs.valid()) return false;
      shown.emplace_back(rank, std::move(theirs));
      return true;
    });
    return missing.empty();
  };
  const bool worth_it =
      use.call.waits && std::ranges::all_of(missing, [&](int rank) { return board.in_touch(rank); });
  bool all =
      look_for(worth_it ? time_to_look(named, named.used()) : std::chrono::microseconds(0), take_shown);
  if (!all) {
    board.sleep();
    all = take_shown();
  }
  // What is not added now may be gone when it is.
  if (!shown.empty()) read_from_board.hit();
  for (auto& [rank, theirs] : shown)
    use.operation->receive(rank, 0, {rows}, all ? std::move(theirs) : theirs.clone());
  return all;
}

RankGroup::Glance RankGroup::glance(GroupCall& call) {
  NamedOperation* const named = operation_for_glance(call);
  if (!named) return {};
  Tensor sum;
  try {
    sum = Tensor::allocate(call.call.dtype, call.own.tensor.shape());
  } catch (const Error&) {  // call() says so to all
    return {};
  }
  std::array<Bytes, Board::most_ranks> all;
  const std::span contributions = std::span(all).first(static_cast<std::size_t>(mail_.size()));
  if (!look_at_pages(*named, call, contributions)) return {.must_call = true};
  reduce_in_order(call.call, contributions, {.ranks = mail_.size()},
                  {static_cast<std::byte*>(sum.mutable_data()), sum.size_bytes()}, nullptr);
  named->count_use();
  note_done(*named, call.call.kind);
  read_from_board.hit();
  made_at_a_glance.hit();
  return {.sum = std::move(sum)};
}

// None unless its next use is what was agreed on, for which nothing else has come or is needed.
NamedOperation* RankGroup::operation_for_glance(GroupCall& call) {
  NamedOperation* const named = names_.find(call.name);
  if (!named || !broken_.ok() || join_reply_ || !left_.empty()) return nullptr;
  const auto& board = named->on_board.board;
  if (!board || !board->has_small_contributions() || !call.own.tensor.valid()) return nullptr;
  const bool alone = named->idle() && named->nothing_waits() && joined_ranks_[round_].empty();
  const bool plain = call.call.prescale == 1 && call.call.compression == ReduceCompression::none;
  if (!alone || !plain || board->version() != named->version()) return nullptr;
  describe(call);
  if (call.call != named->agreed()->call) return nullptr;
  for (int rank = 0; rank < mail_.size(); ++rank)
    if (rank != mail_.rank() && !board->in_touch(rank)) return nullptr;
  return named;
}

// The contributions of all, by rank. False if one is not shown for a while, or a rank needs ours as a
// message.
bool RankGroup::look_at_pages(NamedOperation& named, GroupCall& call, std::span<Bytes> contributions) {
  Board& board = *named.on_board.board;
  const Tensor& own = call.own.tensor;
  board.enter(named.used() + 1);
  bool shown = true;
  for (int rank = 0; rank < mail_.size(); ++rank)
    if (rank != mail_.rank()) shown = board.show(rank, own) && shown;
  if (!shown) return false;
  const auto own_rank = static_cast<std::size_t>(mail_.rank());
  contributions[own_rank] = {static_cast<const std::byte*>(own.data()), own.size_bytes()};
  std::size_t next = 0;
  const bool all = look_for(time_to_look(named, named.used() + 1), [&] {
    for (; next < contributions.size(); ++next) {
      if (next != own_rank) contributions[next] = board.small_one_shown_by(static_cast<int>(next));
      if (contributions[next].empty()) return false;
    }
    return true;
  });
  call.waits = all;  // it has waited
  return all;
}

}  // namespace actorflow
