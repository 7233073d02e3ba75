#include "apps/scenario/scenario_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "apps/cli/program.h"

namespace actorflow {
namespace {

void add_time(Command& command, const std::string& name, std::int64_t& value, const std::string& what) {
  command.option(both_spellings(name), value, what + ", as in 20ms or 5s").time();
}

using ScenarioAdder = void (*)(Command&, ScenarioFlags&);

void add_job(Command& command, ScenarioFlags& flags) {
  command.option("--job", flags.job, "A map/reduce job instead of training, such as word_count");
  command.option("--tasks", flags.tasks, "Of a map/reduce job").check(in_range(1, 1000)).show_default();
  command.option(
      "--input", flags.input,
      "Of a map/reduce job that reads texts: a folder of them, or the name of one of the project's");
  command
      .option(both_spellings("split-bytes"), flags.split_bytes, "Of which its files are cut into parts")
      .check(positive_number())
      .show_default();
  command.option("--partitions", flags.partitions, "Into which its records are divided")
      .check(in_range(1, 4096))
      .show_default();
  command.flag("--resume", flags.resume, "It goes on where it was when all of its tasks are lost");
}

void add_ranks(Command& command, ScenarioFlags& flags) {
  command
      .option("--ranks", flags.ranks,
              "So many tasks that sum by all-reduce instead of training, of which the seed chooses 2 or "
              "more")
      .check(in_range(2, 256));
  command.option("--rounds", flags.rounds, "Of three sums each")
      .check(in_range(1, 100'000))
      .show_default();
  command.option("--algorithm", flags.algorithm,
                 "Of the all-reduces; without it, one that the seed draws");
}

void add_training_tasks(Command& command, ScenarioFlags& flags) {
  command.option("--ps", flags.ps, "Parameter servers").check(in_range(1, 256)).show_default();
  command.option("--workers", flags.workers, "Workers").check(in_range(1, 1000)).show_default();
}

void add_faults(Command& command, ScenarioFlags& flags) {
  command.option("--fault,--faults", flags.faults,
                 "What goes wrong: '12.5s pause /job:ps/task:0 for 3s'; any number");
  command
      .option(both_spellings("random-faults"), flags.random_faults,
              "So many faults more, which heal, drawn from the seed")
      .check(in_range(0, 1000))
      .show_default();
  command.option("--kinds", flags.kinds, "Kinds of random faults; without it all that heal")
      .comma_separated();
  add_time(command, "faults-until", flags.faults_until, "When the last random fault begins, at most");
  add_time(command, "longest-fault", flags.longest_fault, "How long a random fault lasts, at most");
}

void add_world(Command& command, ScenarioFlags& flags) {
  add_time(command, "latency", flags.latency, "Simulated: from one task to another");
  command
      .option(both_spellings("bytes-per-second"), flags.bytes_per_second,
              "Simulated: what a task sends or receives")
      .check(positive_number())
      .show_default();
  add_time(command, "kernel-time", flags.kernel_time, "Simulated: what a kernel takes, at most");
  add_time(command, "time-limit", flags.time_limit, "A job that takes longer has failed: it hangs");
}

void add_demands_on_training(Command& command, ScenarioFlags& flags) {
  command
      .option(both_spellings("real-train-steps"), flags.real_train_steps,
              "Global steps of real processes, which may be faster; without it as many as simulated")
      .check(positive_number());
  command.flag(both_spellings("same-weights"), flags.same_weights,
               "The weights must be those of the undisturbed job, bit by bit");
  command
      .option(both_spellings("accuracy-within"), flags.accuracy_within,
              "The test accuracy must not be so many percentage points below the undisturbed job's")
      .check(nonnegative_number());
}

// What training has alone.
void add_training(Command& command, ScenarioFlags& flags) {
  add_training_tasks(command, flags);
  flags.train.add_to(command);
  add_demands_on_training(command, flags);
}

// A kind of scenario, and the options that only it has.
struct ScenarioKind {
  const char* name;
  ScenarioAdder add;

  bool has(const std::string& option) const {
    ScenarioFlags unused;
    CommandLine line("The options of a kind of scenario");
    line.without_help();
    add(line, unused);
    const auto options = line.options();
    return std::ranges::find(options, option) != options.end();
  }
};
constexpr std::array scenario_kinds{ScenarioKind{"training", add_training},
                                    ScenarioKind{"a map/reduce job", add_job},
                                    ScenarioKind{"ranks that sum", add_ranks}};

// The kind, and the option that says so.
std::pair<const ScenarioKind&, std::string> kind_of(const ScenarioFlags& flags) {
  if (flags.ranks > 0) return {scenario_kinds[2], fmt::format("ranks = {}", flags.ranks)};
  if (!flags.job.empty()) return {scenario_kinds[1], "job = " + flags.job};
  return {scenario_kinds[0], "neither job nor ranks is given"};
}

}  // namespace

void ScenarioFlags::add_to(Command& command) {
  for (const auto& kind : scenario_kinds) kind.add(command, *this);
  add_faults(command, *this);
  add_world(command, *this);
}

void check_options(const ScenarioFlags& flags, const std::vector<std::string>& given) {
  if (std::ranges::none_of(given, [](const auto& option) { return option != "options"; }))
    throw UsageError(
        "the scenario says nothing; expected lines option = value: train_steps and other options of "
        "training, "
        "or job = word_count, or ranks = 4");
  const auto& [kind, why] = kind_of(flags);
  for (const auto& option : given)
    for (const auto& other : scenario_kinds)
      if (&other != &kind && other.has(option))
        throw UsageError(
            fmt::format("'{}' is an option of {}, but this is a scenario of {} ({}); omit it", option,
                        other.name, kind.name, why));
  if (&kind == &scenario_kinds[0] && !flags.train.train_steps && !flags.train.epochs)
    throw UsageError("the scenario does not say how long to train; give train_steps or epochs");
}

}  // namespace actorflow
