#include "actors/simulation/world/world.h"

#include <caf/execution_unit.hpp>
#include <caf/logger.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

#include "actors/simulation/world/escape_watch.h"
#include "actors/simulation/world/world_core.h"
#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {

World::World(std::uint64_t seed, std::unique_ptr<Schedule> schedule, bool recording)
    : random_(seed), schedule_(std::move(schedule)), trace_(recording), lives_(1) {}

World::~World() = default;

void World::at(Time time, std::function<void()> event) {
  events_.push_back({std::max(time, now_), next_event_++, std::move(event)});
  std::push_heap(events_.begin(), events_.end());
}

// An actor that is seen for the first time was spawned by whatever runs now, and belongs to that life.
World::Runnable World::describe(caf::resumable* actor) {
  if (actor->subtype() != caf::resumable::scheduled_actor) return {actor, nullptr, 0, 0};
  auto* scheduled = static_cast<caf::scheduled_actor*>(actor);
  const auto [entry, fresh] = actors_.try_emplace(scheduled->id());
  if (fresh) {
    const bool in_track = current_ != outside;
    entry->second.life = in_track ? tracks_[static_cast<std::size_t>(current_)].life : 0;
    entry->second.handle = caf::actor_cast<caf::weak_actor_ptr>(scheduled);
  }
  return {actor, nullptr, scheduled->id(), entry->second.life};
}

void World::ready(caf::resumable* actor) { add(describe(actor)); }

World::Track* World::track_of(const Runnable& runnable) {
  const TrackId track = lives_[runnable.life].track;
  return track == outside ? nullptr : &tracks_[static_cast<std::size_t>(track)];
}

void World::add(Runnable runnable) {
  Track* track = track_of(runnable);
  if (track && !may_run(*track) && !dismantling_)
    track->held.push_back(std::move(runnable));
  else
    ready_.push_back(std::move(runnable));
}

void World::release(TrackId id) {
  Track& track = tracks_[static_cast<std::size_t>(id)];
  if (!may_run(track)) return;
  for (auto& runnable : std::exchange(track.held, {})) ready_.push_back(std::move(runnable));
}

bool World::step() {
  if (ready_.empty()) return advance_time();
  const auto choices = ready_.numbers();
  run(ready_.take(choices.size() > 1 ? schedule_->choose(choices) : 0));
  return true;
}

void World::run(const Runnable& runnable) {
  const Life life = lives_[runnable.life];
  Track* track = track_of(runnable);
  // What belongs to a life that is over is kept and never runs: a killed process does nothing more.
  if (track && (life.over || !may_run(*track))) {
    track->held.push_back(runnable);
    return;
  }
  current_ = life.track;
  charged_ = Duration{0};
  ++activations_;
  trace_.mix(static_cast<std::uint64_t>(elapsed().count()));
  trace_.mix(runnable.number);
  activate(runnable);
  if (is_charged()) keep_busy(current_);
  current_ = outside;
  expect_no_escape();
}

void World::expect_no_escape() const {
  const std::string escape = EscapeWatch::take();
  if (escape.empty()) return;
  throw Error(Code::internal,
              "what runs in a simulation takes time, chance, threads and files from the runtime of its "
              "server (runtime()->clock(), random(), sleep(), storage()), or the same seed would be "
              "another run; but " +
                  escape);
}

void World::activate(const Runnable& runnable) {
  const EscapeWatch watch;
  if (runnable.piece) return run_piece(runnable);
  if (!runnable.client) return run_actor(runnable);
  running_client_ = runnable.client.get();
  runnable.client->fiber_->resume();
  running_client_ = nullptr;
}

void World::run_actor(const Runnable& runnable) {
  caf::execution_unit& unit = engine_->unit();
  // Spares CAF the bookkeeping for its log, which is off. Spawning an actor begins it.
  caf::logger::set_current_actor_system(nullptr);
  const auto result = runnable.actor->resume(&unit, 1);
  if (runnable.piece) keep_piece_busy(runnable.number);
  switch (result) {
    case caf::resumable::resume_later:
      return runnable.piece ? add_piece(runnable) : add(runnable);
    case caf::resumable::done:
      actors_.erase(runnable.number);
      [[fallthrough]];
    case caf::resumable::awaiting_message:
      return caf::intrusive_ptr_release(runnable.actor);
    case caf::resumable::shutdown_execution_unit:
      return;
  }
}

bool World::advance_time() {
  const Time timer = engine_->next_timer();
  const Time event = events_.empty() ? Clock::never : events_.front().time;
  const Time next = std::min(timer, event);
  if (next == Clock::never) return false;
  now_ = std::max(now_, next);
  if (timer <= now_) {
    engine_->advance_timers(now_);
    return true;
  }
  std::pop_heap(events_.begin(), events_.end());
  const Event due = std::move(events_.back());
  events_.pop_back();
  trace_.mix(due.number);
  due.happen();
  return true;
}

void World::run_down() {
  while (!ready_.empty()) {
    const Runnable runnable = ready_.take_last();
    if (runnable.actor) run_actor(runnable);
  }
}

void World::dismantle() {
  ACTORFLOW_CHECK(!running_client_, "dismantled by one of its own clients");
  dismantling_ = true;
  end_pieces();
  events_.clear();
  for (auto& life : lives_) life.over = false;
  for (auto& track : tracks_) {
    track.paused = false;
    track.busy_until = now_;
    for (auto& runnable : std::exchange(track.held, {}))
      if (runnable.actor) ready_.push_back(std::move(runnable));
  }
  ready_.erase_if([](const Runnable& runnable) { return runnable.client != nullptr; });
  std::vector<caf::actor> actors;
  for (const auto& entry : actors_)
    if (const auto handle = caf::actor_cast<caf::strong_actor_ptr>(entry.second.handle))
      actors.push_back(caf::actor_cast<caf::actor>(handle));
  for (const auto& actor : actors) caf::anon_send_exit(actor, caf::exit_reason::kill);
  actors.clear();
  run_down();
  // Clients come after actors: until the actors were gone they could have answered to what lies on the
  // clients' stacks.
  for (auto& client : clients_) {
    running_client_ = client.get();
    client->fiber_.reset();
    running_client_ = nullptr;
  }
}

}  // namespace actorflow
