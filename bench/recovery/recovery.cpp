// How long a training job of processes takes to go on when a task of it is killed, stopped or cut off:
// the worst of a few times against what test/README.md's faults may take, and the median against what no
// recovery can be without - starting this program once for a kill, an undisturbed step for a fault that
// heals.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/rehearsal/lan.h"
#include "bench/harness.h"
#include "bench/network/raw_socket.h"
#include "bench/program.h"
#include "bench/recovery/recovery_job.h"

namespace actorflow::bench {
namespace {

enum class Fault { kill, stop, cut };

struct Case {
  Fault fault;
  TaskName task;
  bool sync;
};

// Times in seconds, one for each time that the fault was caused.
struct Times {
  std::vector<double> missed;    // until another task said that it hears nothing from the faulty one
  std::vector<double> again;     // from the kill, or the healing, until every worker made steps again
  std::vector<double> others;    // for which the other workers made no step
  std::vector<double> baseline;  // starting this program; or an undisturbed step
};

// From the spawn until the program, which does nothing else, has connected.
double time_to_start() {
  RawListener listener;
  const double began = RecoveryJob::now();
  Program program("actorflow_bench", {fmt::format("--recovery_connect={}", listener.port())});
  listener.accept();
  return RecoveryJob::now() - began;
}

// Makes the fault happen. Returns since when it was up to the job to go on.
double disturb(RecoveryJob& job, const Case& of, Times& times) {
  const double began = RecoveryJob::now();
  if (of.fault == Fault::kill) {
    job.replace(of.task);
    return began;
  }
  of.fault == Fault::stop ? job.hold(of.task, true) : job.cut_off(of.task);
  times.missed.push_back(job.wait_until_missed(of.task, began) - began);
  const double healed = RecoveryJob::now();
  of.fault == Fault::stop ? job.hold(of.task, false) : job.join_all();
  return healed;
}

// The heartbeat timeout of the measured jobs, H.
double timeout_s(bool quick) { return quick ? 1 : 5; }

void measure_once(RecoveryJob& job, const Case& of, Times& times) {
  constexpr std::size_t few_steps = 50;
  job.wait_for_steps(RecoveryJob::now(), few_steps);
  times.baseline.push_back(of.fault == Fault::kill ? time_to_start()
                                                   : job.median_step(1, RecoveryJob::now()));
  const double began = RecoveryJob::now();
  const double since = disturb(job, of, times);
  job.wait_for_steps(since, few_steps);
  double again = 0, others = 0;
  for (int worker = 0; worker < RecoveryJob::num_workers; ++worker) {
    again = std::max(again, job.longest_gap(worker, since));
    if (TaskName{"worker", worker} != of.task) others = std::max(others, job.longest_gap(worker, began));
  }
  times.again.push_back(again);
  times.others.push_back(others);
}

// What --quick measures: each fault of one kind of task.
bool is_sample(const Case& of) {
  static const TaskName samples[] = {{"worker", 2}, {"ps", 1}, {"worker", 0}};
  return of.task == samples[static_cast<int>(of.fault)];
}

Times measure(const Case& of, bool quick) {
  if (quick && !is_sample(of)) throw Skipped("--quick measures this fault of another task");
  if (of.fault == Fault::cut)
    if (const auto why = Lan::why_none(); !why.empty())
      throw Skipped("this needs root and TUN devices: " + why);
  RecoveryJob job(of.sync, std::llround(1000 * timeout_s(quick)), of.fault == Fault::cut);
  Times times;
  const int rounds = quick ? 1 : of.fault == Fault::kill ? 5 : 3;
  for (int round = 0; round < rounds; ++round) measure_once(job, of, times);
  return times;
}

double longest(const std::vector<double>& times) { return std::ranges::max(times); }

// The longest time that a recovery may take, `seconds` and so many timeouts; and the promise that says
// so.
struct Allowed {
  double seconds;
  int timeouts;
  const char* words;

  double total(bool quick) const { return seconds + timeouts * timeout_s(quick); }
};

Allowed allowed_again(const Case& of) {
  if (of.task.job == "ps") return {15, 0, "a parameter server: 15 s"};
  if (of.task.index == 0) return {15, 0, "a chief: 15 s"};
  if (of.sync) return {2, 1, "a worker, synchronous: H + 2 s"};
  return {10, 0, "a worker joins within 10 s"};
}

std::string name_of(const Case& of) {
  static constexpr const char* faults[] = {"kill", "stop", "cut"};
  return fmt::format("recovery/{}_{}_{}", faults[static_cast<int>(of.fault)],
                     of.task.job == "ps"  ? "ps"
                     : of.task.index == 0 ? "chief"
                                          : "worker",
                     of.sync ? "sync" : "async");
}

// The rows of one case, which is measured once.
void add_rows(const Case& of, std::vector<Benchmark>& to) {
  const auto measured = std::make_shared<std::optional<Times>>();
  const auto times = [of, measured](bool quick) -> const Times& {
    if (!*measured) *measured = measure(of, quick);
    return **measured;
  };
  const auto add_longest = [&](const char* what, std::vector<double> Times::*of_what,
                               const Allowed& allowed) {
    to.push_back({name_of(of) + what, "s", allowed.words, at_most(1), [=](bool quick) {
                    return Measurement{longest(times(quick).*of_what), allowed.total(quick)};
                  }});
  };
  if (of.fault != Fault::kill) add_longest("_noticed", &Times::missed, {0, 1, "noticed within H"});
  if (of.task.job == "worker" && of.task.index > 0 && !of.sync)
    add_longest("_others", &Times::others, {1, 1, "the others go on within H + 1 s"});
  add_longest("_again", &Times::again, allowed_again(of));
  const bool is_kill = of.fault == Fault::kill;
  to.push_back({name_of(of) + "_again_median", "s",
                is_kill ? "fork, exec and connect of a program" : "an undisturbed step",
                at_most(is_kill ? 20 : 3'000), [=](bool quick) {
                  return Measurement{median(times(quick).again), median(times(quick).baseline)};
                }});
}

}  // namespace

std::vector<Benchmark> recovery_benchmarks() {
  std::vector<Benchmark> all;
  for (const Fault fault : {Fault::kill, Fault::stop, Fault::cut})
    for (const auto& task : {TaskName{"worker", 2}, {"ps", 1}, {"worker", 0}})
      for (const bool sync : {false, true}) add_rows({fault, task, sync}, all);
  return all;
}

}  // namespace actorflow::bench
