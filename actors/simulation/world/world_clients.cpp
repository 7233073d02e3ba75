// The clients of a simulated world: programs that wait, each on a fiber of its own.
#include <exception>
#include <utility>

#include "actors/simulation/world/world.h"

namespace actorflow {

void World::Sleeper::wake() {
  woken_ = true;
  if (!std::exchange(asleep_, false) || world_.dismantling_) return;
  world_.add({nullptr, shared_from_this(), number_, life_});
}

bool World::Sleeper::sleep(Time end) {
  if (woken_) return true;
  asleep_ = true;
  timed_out_ = false;
  if (end != Clock::never)
    world_.at(end, [self = shared_from_this(), wait = waits_] {
      if (self->waits_ != wait || !self->asleep_) return;
      self->timed_out_ = true;
      self->wake();
    });
  fiber_->suspend();
  return !timed_out_;
}

void World::start(TrackId track, std::function<void()> program) {
  const auto life = tracks_[static_cast<std::size_t>(track)].life;
  // The highest bit keeps the numbers of clients apart from those of actors.
  const auto number = (std::uint64_t{1} << 63) | clients_.size();
  clients_.push_back(std::make_shared<Sleeper>(*this, life, number, std::move(program)));
  add({nullptr, clients_.back(), number, life});
}

bool World::wait_until(Time end, const std::function<void(Waker&)>& begin,
                       const std::function<void(Waker&)>& give_up) {
  Sleeper* client = running_client_;
  std::shared_ptr<Sleeper> nobody;
  if (!client) {
    nobody = std::make_shared<Sleeper>(*this, 0, 0, nullptr);
    client = nobody.get();
  } else if (client->unwinding()) {
    // The client is being unwound, and nobody is left who could answer. In a destructor that unwinding
    // runs the wait gives up; any other wait unwinds further.
    if (std::uncaught_exceptions() > 0) return false;
    throw Fiber::Unwind{};
  }
  ++client->waits_;
  client->woken_ = false;
  begin(*client);
  if (nobody)
    while (!client->woken_ && now_ < end && step()) {
    }
  const bool woken = nobody ? client->woken_ : client->sleep(end);
  if (!woken) give_up(*client);
  return woken;
}

}  // namespace actorflow
