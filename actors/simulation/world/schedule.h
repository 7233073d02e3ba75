// Schedules: the choices between things that could happen next, which a simulation explores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace actorflow {

// A stream of numbers that is the same on every machine (SplitMix64; Steele, Lea and Flood 2014).
class SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  // A number below `bound`, which must be positive.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  // True with this probability.
  bool chance(double probability);
  // A number from 0 to 1.
  double fraction();

 private:
  std::uint64_t state_;
};

// Chooses which runnable actor runs next. One object makes the choices of one run.
class Schedule {
 public:
  virtual ~Schedule() = default;
  // Returns the position in `actors`, the numbers of the runnable ones, of the actor to run. REQUIRES:
  // there are two or more.
  virtual std::size_t choose(std::span<const std::uint64_t> actors) = 0;
};

// All choices are equally likely.
class RandomSchedule final : public Schedule {
 public:
  explicit RandomSchedule(std::uint64_t seed) : random_(seed) {}
  std::size_t choose(std::span<const std::uint64_t> actors) override;

 private:
  SeededRandom random_;
};

// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): actors have random priorities, the
// highest runs, and at `depth` - 1 random ones of the first `length` choices the actor that would run
// falls below all others. Finds a bug that needs `depth` ordered events with a probability of at least 1
// / (actors x length^(depth - 1)).
class PctSchedule final : public Schedule {
 public:
  PctSchedule(std::uint64_t seed, int depth, std::uint64_t length);
  std::size_t choose(std::span<const std::uint64_t> actors) override;

 private:
  SeededRandom random_;
  std::set<std::uint64_t> changes_;  // at which choices
  std::uint64_t choices_ = 0;
  std::map<std::uint64_t, std::int64_t> priorities_;
  std::int64_t lowest_ = 0;
};

// Tries every order: a depth-first search over the first `max_choices` choices of a run, for programs of
// a few actors. Later choices are first come, first served.
class ExhaustiveSearch {
 public:
  explicit ExhaustiveSearch(std::size_t max_choices = 1000) : max_choices_(max_choices) {}

  // The schedule of the next run. REQUIRES: it is destroyed before this object and before the call of
  // advance().
  std::unique_ptr<Schedule> schedule();
  // Moves to the next order. False when all have been tried.
  bool advance();
  // Whether every run had at most max_choices choices.
  bool complete() const { return complete_; }

 private:
  friend class ExhaustiveSchedule;
  struct Choice {
    std::size_t chosen = 0;
    std::size_t of = 0;
  };
  std::size_t max_choices_;
  std::vector<Choice> path_;
  bool complete_ = true;
};

}  // namespace actorflow
