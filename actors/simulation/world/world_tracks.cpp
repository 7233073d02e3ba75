// The tracks of a simulated world: the processes, and the machines below them, that pause, are busy, and die.
#include <utility>

#include "actors/simulation/world/world.h"
#include "dataflow/values/error.h"

namespace actorflow {

TrackId World::add_track(std::string name) {
  names_.push_back(std::move(name));
  const auto track = static_cast<TrackId>(tracks_.size());
  tracks_.emplace_back().life = lives_.size();
  lives_.push_back({track, false});
  return track;
}

void World::as(TrackId track, const std::function<void()>& body) {
  const TrackId before = std::exchange(current_, track);
  body();
  current_ = before;
}

void World::pause(TrackId track, bool paused) {
  tracks_[static_cast<std::size_t>(track)].paused = paused;
  release(track);
}

void World::end_life(TrackId track) {
  Track& it = tracks_[static_cast<std::size_t>(track)];
  lives_[it.life].over = true;
  it.life = lives_.size();
  it.paused = false;
  it.busy_until = now_;
  lives_.push_back({track, false});
  // What was ready stays in ready_: run() leaves it out when its turn comes.
  release(track);
}

void World::end_task(const std::string& reason) {
  if (dismantling_) return;
  if (current_ == outside) throw Error(Code::internal, "no task runs, but one is to end: " + reason);
  const TrackId track = current_;
  end_life(track);
  as(outside, [&] { task_ended_(track, reason); });
}

void World::slow_down(TrackId track, double factor) {
  tracks_[static_cast<std::size_t>(track)].slowness = factor;
}

void World::set_clock_ahead(TrackId track, Duration by) {
  tracks_[static_cast<std::size_t>(track)].clock_ahead = by;
}

World::Duration World::clock_ahead() const {
  if (current_ == outside) return Duration{0};
  return tracks_[static_cast<std::size_t>(current_)].clock_ahead;
}

World::Time World::end_of_charged(TrackId track) {
  const double slowness = tracks_[static_cast<std::size_t>(track)].slowness;
  const auto charged = static_cast<double>(std::exchange(charged_, Duration{0}).count());
  const Time end = now_ + Duration(static_cast<Duration::rep>(charged * slowness));
  trace_.span(elapsed(), end - beginning, track, "computes");
  return end;
}

void World::keep_busy(TrackId track) {
  const Time end = end_of_charged(track);
  tracks_[static_cast<std::size_t>(track)].busy_until = end;
  at(end, [this, track] { release(track); });
}

}  // namespace actorflow
