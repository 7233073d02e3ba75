// What a coordinator knows of one part of a stage. Its StageTracker knows the rest: how often it was
// tried, which attempts run, and which task holds what was made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "actors/jobs/engine/agent/renewed_wait.h"
#include "actors/jobs/messages/stage.h"

namespace actorflow {

// What an attempt lacks that has come back without having run: a part or partition of an earlier stage;
// {}: a task that takes it; or the part of its own stage that it is: its owner.
struct Lacking {
  StageNumber stage = 0;
  std::uint64_t index = 0;

  auto operator<=>(const Lacking&) const = default;
};

// How long a part waits for what it lacks.
struct LackWait {
  explicit LackWait(double now) : wait(now) {}

  RenewedWait wait;
  unsigned times = 0;   // that attempts have come back
  std::set<int> tasks;  // whose coming or loss begins the wait anew
};

// A part is new until an attempt of this run or of an earlier one has made it, and has a checksum from
// then on, which whatever is made of it later must have, too. What was made lies at the task that the
// tracker names, in files, or in both. If that task is lost, the part is taken over from its files; if
// these are not whole, or there are none, it is made again.
struct PartState {
  // Whether an attempt has made something else than an earlier one.
  bool differs(std::uint64_t from) const { return checksum && *checksum != from; }
  // The wait for what it lacks, which begins now unless it has begun.
  LackWait& wait_on(const Lacking& what, double now) {
    return waits.try_emplace(what, now).first->second;
  }
  // The task has come or is lost.
  void renew_waits_of(int task, double now) {
    for (auto& [what, lack] : waits)
      if (lack.tasks.contains(task)) lack.wait.renew(now);
  }

  // Of the attempt that counts.
  PartOutcome outcome;  // until the stage has ended
  WorkDone<std::uint64_t> work;
  std::optional<std::uint64_t> checksum;

  std::optional<PartOutcome> on_disk;  // what its files say
  std::set<unsigned> takeovers;        // attempts that take it over from them

  std::set<std::uint64_t> skips;  // numbers of records of its source that are left out
  std::set<int> failed_on;        // tasks
  unsigned refusals = 0;          // failures that are what a disk has answered
  unsigned changes = 0;           // how often what it has made had changed on a disk
  std::map<Lacking, LackWait> waits;
};

}  // namespace actorflow
