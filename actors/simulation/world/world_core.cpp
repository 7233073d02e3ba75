#include "actors/simulation/world/world_core.h"

#include <caf/resumable.hpp>

#include <algorithm>
#include <utility>

#include "kernels/core/computing.h"

namespace actorflow {

World::Core::Core(World& world)
    : fiber([this, &world] {
        while (!fiber.unwinding()) {
          world.run_actor(piece);
          piece = {};
          if (!fiber.unwinding()) fiber.suspend();
        }
      }) {}

World::Core& World::idle_core() {
  const auto idle = std::ranges::find_if(cores_, [](const auto& core) { return !core->piece.actor; });
  return idle != cores_.end() ? **idle : *cores_.emplace_back(std::make_unique<Core>(*this));
}

void World::run_piece(const Runnable& runnable) {
  Core& core = runnable.core ? *runnable.core : idle_core();
  if (!runnable.core) core.piece = runnable;
  struct Running {
    Core*& now;
    Core* const outer;
    ~Running() { now = outer; }
  };
  const Running running{running_core_, std::exchange(running_core_, &core)};
  core.fiber.resume();
}

void World::pass_charged() {
  // Not in what runs within a piece, nor where a thread's mark would be another piece's meanwhile.
  if (!running_core_ || Fiber::current() != &running_core_->fiber || Computing::on_this_thread() ||
      !is_charged())
    return;
  Runnable rest = running_core_->piece;
  rest.core = running_core_;
  at(end_of_charged(current_), [this, rest] { add(rest); });
  running_core_->fiber.suspend();
}

void World::ready_piece(caf::resumable* actor) {
  Runnable runnable = describe(actor);
  runnable.piece = true;
  add_piece(std::move(runnable));
}

void World::keep_piece_busy(std::uint64_t number) {
  if (is_charged()) actors_[number].busy_until = end_of_charged(current_);
}

void World::add_piece(Runnable runnable) {
  const auto entry = actors_.find(runnable.number);
  if (dismantling_ || entry == actors_.end() || entry->second.busy_until <= now_)
    return add(std::move(runnable));
  const auto number = runnable.number;
  busy_pieces_[number] = std::move(runnable);
  at(entry->second.busy_until, [this, number] {
    if (auto busy = busy_pieces_.extract(number)) add(std::move(busy.mapped()));
  });
}

// A suspended piece unwinds, and its actor takes that for a failure: whom it tells is ended next.
void World::end_pieces() {
  running_core_ = nullptr;
  const auto is_suspended = [](const Runnable& runnable) { return runnable.core != nullptr; };
  ready_.erase_if(is_suspended);
  for (auto& track : tracks_) std::erase_if(track.held, is_suspended);
  cores_.clear();
  for (auto& [number, runnable] : std::exchange(busy_pieces_, {})) add(std::move(runnable));
}

}  // namespace actorflow
