// A simulated world: actors, clients, time and randomness of all tasks on one thread.
#pragma once

#include <caf/actor_control_block.hpp>
#include <caf/resumable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "actors/runtime/runtime.h"
#include "actors/simulation/world/fiber.h"
#include "actors/simulation/world/ready_list.h"
#include "actors/simulation/world/schedule.h"
#include "actors/simulation/world/trace.h"

namespace caf {
class execution_unit;
}

namespace actorflow {

// A process of a machine, by its position.
using TrackId = int;
inline constexpr TrackId outside = -1;

// Runs ready actors and clients, one message at a time, in an order that the schedule chooses; when none
// is ready, time advances to the next event. Actors belong to the track on which they were made. A track
// can be paused or dead: its actors and events then wait, or never run. Not thread-safe.
class World {
 public:
  class Sleeper;
  using Time = Clock::time_point;
  using Duration = Time::duration;

  // The beginning of time.
  static constexpr Time beginning{};

  World(std::uint64_t seed, std::unique_ptr<Schedule> schedule, bool recording);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Time now() const { return now_; }
  // The time for the running track, which includes its computing in this activation.
  Time local_now() const { return now_ + charged_; }
  Duration elapsed() const { return now_ - beginning; }
  // Makes what runs busy for that much longer: a piece of computing for itself, an actor or client for
  // all of its track.
  void charge(Duration duration) { charged_ += duration; }
  // In a piece of computing: lets the others go on until the time that it was charged has passed. To be
  // called where it holds no lock. Elsewhere, and under a Computing mark, it does nothing.
  void pass_charged();
  SeededRandom& random() { return random_; }
  Trace& trace() { return trace_; }

  // Adds an event at a time; events of the same time run in the order of the calls.
  void at(Time time, std::function<void()> event);
  void after(Duration duration, std::function<void()> event) { at(now_ + duration, std::move(event)); }

  TrackId add_track(std::string name);
  const std::vector<std::string>& track_names() const { return names_; }
  // The track whose actor, client or event is running.
  TrackId current() const { return current_; }
  // Runs `body` as that track: actors that it spawns belong there.
  void as(TrackId track, const std::function<void()>& body);
  void pause(TrackId track, bool paused);
  // Ends the present life of a track: nothing of it runs again.
  void end_life(TrackId track);
  // Ends the life of the running track: the present activation returns, and nothing of that life runs
  // again.
  void end_task(const std::string& reason);
  void on_end_of_task(std::function<void(TrackId, const std::string& reason)> heard) {
    task_ended_ = std::move(heard);
  }
  // Makes the computing of a track take `factor` times as long.
  void slow_down(TrackId track, double factor);
  // Sets the wall clock of a track's machine ahead of the world's, or behind; now() is a steady clock
  // and stays as it is.
  void set_clock_ahead(TrackId track, Duration by);
  // By how much the running track's wall clock is ahead.
  Duration clock_ahead() const;

  // Mark an actor as ready; the second one, whose activations are pieces of computing. Called by the
  // scheduler.
  void ready(caf::resumable* actor);
  void ready_piece(caf::resumable* actor);
  // Starts a client's program, which begins to run when its turn comes.
  void start(TrackId track, std::function<void()> program);
  // For a client: suspends it until it is woken, or until `end`; see Runtime::wait_until(). Outside of
  // all clients: runs the world until then.
  bool wait_until(Time end, const std::function<void(Waker&)>& begin,
                  const std::function<void(Waker&)>& give_up);

  // The scheduler of actors in this world: their execution unit and timers.
  class Engine {
   public:
    virtual ~Engine() = default;
    virtual caf::execution_unit& unit() = 0;
    virtual Time next_timer() const = 0;  // Clock::never if there is none
    virtual void advance_timers(Time now) = 0;
  };
  void set_engine(Engine* engine) { engine_ = engine; }

  // Does one step. False when nothing is left to do.
  bool step();
  // Ends every actor and unwinds every client; nothing runs afterwards. REQUIRES: no client is running.
  void dismantle();
  // Runs ready actors until there are none, for the end of the world. REQUIRES: they come to an end (not
  // checked).
  void run_down();

  std::uint64_t activations() const { return activations_; }

 private:
  struct Core;
  // An actor that can run, or a client that was woken.
  struct Runnable {
    caf::resumable* actor = nullptr;
    std::shared_ptr<Sleeper> client;
    std::uint64_t number = 0;  // of the actor or client
    std::uint64_t life = 0;    // the life of its track
    bool piece = false;        // its activations are pieces of computing
    Core* core = nullptr;      // on which its piece goes on; null before it begins
  };
  struct ActorEntry {
    std::uint64_t life = 0;
    caf::weak_actor_ptr handle;
    Time busy_until = beginning;  // of a piece
  };
  struct Life {
    TrackId track = outside;
    bool over = false;
  };
  struct Track {
    std::uint64_t life = 0;
    bool paused = false;
    Time busy_until = beginning;
    double slowness = 1;
    Duration clock_ahead{0};
    std::vector<Runnable> held;
  };
  struct Event {
    Time time;
    std::uint64_t number;
    std::function<void()> happen;
    bool operator<(const Event& other) const {
      return std::tie(other.time, other.number) < std::tie(time, number);
    }
  };

  bool may_run(const Track& track) const { return !track.paused && track.busy_until <= now_; }
  Track* track_of(const Runnable& runnable);
  void add(Runnable runnable);
  void release(TrackId track);
  void run(const Runnable& runnable);
  // Runs the actor or client for one activation, watched for escapes.
  void activate(const Runnable& runnable);
  // Throws if what has run since the last call asked the real machine for something.
  void expect_no_escape() const;
  bool is_charged() const { return charged_.count() != 0 && current_ != outside && !dismantling_; }
  // Takes the charged time: when it will have passed on that track.
  Time end_of_charged(TrackId track);
  // Makes the track busy for the charged time of its last activation.
  void keep_busy(TrackId track);
  void run_actor(const Runnable& runnable);
  void run_piece(const Runnable& runnable);
  Core& idle_core();
  // Keeps a piece from its next activation for what is left of the charged time.
  void keep_piece_busy(std::uint64_t number);
  // Makes a piece ready when it is no longer busy.
  void add_piece(Runnable runnable);
  // For the end of the world: no piece is busy or suspended afterwards.
  void end_pieces();
  bool advance_time();
  Runnable describe(caf::resumable* actor);

  SeededRandom random_;
  std::unique_ptr<Schedule> schedule_;
  Trace trace_;
  Time now_ = beginning;
  Duration charged_{0};
  TrackId current_ = outside;
  Engine* engine_ = nullptr;
  std::function<void(TrackId, const std::string&)> task_ended_;
  bool dismantling_ = false;
  std::uint64_t activations_ = 0;
  std::uint64_t next_event_ = 0;
  std::vector<std::string> names_;
  std::vector<Track> tracks_;
  std::vector<Life> lives_;
  std::map<std::uint64_t, ActorEntry> actors_;  // by id
  ReadyList<Runnable> ready_;
  std::vector<Event> events_;  // a heap: the first is next
  std::vector<std::shared_ptr<Sleeper>> clients_;
  Sleeper* running_client_ = nullptr;
  std::vector<std::unique_ptr<Core>> cores_;
  std::map<std::uint64_t, Runnable> busy_pieces_;  // that have more to do, by number
  Core* running_core_ = nullptr;
};

// A client in the world.
class World::Sleeper final : public Waker, public std::enable_shared_from_this<World::Sleeper> {
 public:
  Sleeper(World& world, std::uint64_t life, std::uint64_t number, std::function<void()> program)
      : world_(world),
        life_(life),
        number_(number),
        fiber_(std::make_unique<Fiber>(std::move(program))) {}

  // Ends the client's wait, if it waits.
  void wake() override;

 private:
  friend class World;
  // True if it was woken.
  bool sleep(Time end);
  bool unwinding() const { return !fiber_ || fiber_->unwinding(); }

  World& world_;
  const std::uint64_t life_;
  const std::uint64_t number_;
  bool woken_ = false;
  bool timed_out_ = false;
  bool asleep_ = false;
  std::uint64_t waits_ = 0;  // distinguishes the end of an old wait from that of the present one
  std::unique_ptr<Fiber> fiber_;
};

}  // namespace actorflow
