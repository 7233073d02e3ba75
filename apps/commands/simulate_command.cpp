#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "actors/simulation/seeds.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "apps/rehearsal/rehearse.h"
#include "apps/scenario/seed_runs.h"
#include "apps/scenario/simulate.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

struct SimulateCommand {
  std::vector<std::string> files;
  std::string seeds;
  int processes = 0;  // one per core
  std::vector<std::string> settings;
  std::string trace;
  bool twice = false;
  bool real = false;
  bool list = false;
  bool points = false;

  // What does the same with one of the files.
  std::string program(const std::string& file) const {
    std::string text = fmt::format("actorflow simulate {}", file);
    for (const auto& setting : settings) text += fmt::format(" --set '{}'", setting);
    if (twice) text += " --twice";
    if (!trace.empty()) text += fmt::format(" --trace {}", trace);
    return real ? text + " --real" : text;
  }
};

// "7" or "1..1000".
SeedRange parse_seeds(const std::string& text) {
  const auto number = [&text](const std::string& part) {
    std::size_t end = 0;
    std::uint64_t value = 0;
    try {
      value = std::stoull(part, &end);
    } catch (const std::exception&) {
    }
    if (end == 0 || end != part.size() || part.starts_with('-'))
      throw UsageError("--seeds: expected a number or a range as 1..1000, got '" + text + "'");
    return value;
  };
  const auto dots = text.find("..");
  const SeedRange range = dots == std::string::npos
                              ? SeedRange{number(text), number(text)}
                              : SeedRange{number(text.substr(0, dots)), number(text.substr(dots + 2))};
  if (range.first > range.last)
    throw UsageError(
        fmt::format("--seeds: the first, {}, is after the last, {}", range.first, range.last));
  return range;
}

// Tells how far the seeds are: one line on a terminal that changes, else another every ten seconds.
class SeedProgress {
 public:
  SeedProgress(std::string name, SeedRange range)
      : name_(std::move(name)),
        seeds_(std::max(range.last - range.first, range.last - range.first + 1)) {}  // all: one too few

  // Before the first seed.
  void show_undisturbed() const {
    if (live_) fmt::print(stderr, "\r{}: the job without faults first\033[K", name_);
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  void begin() { began_ = std::chrono::steady_clock::now(); }
  void show(std::uint64_t done) {
    if (!live_ && seconds() < next_line_) return;
    next_line_ = seconds() + 10;
    fmt::print(stderr, "{}{}: {} of {} seeds, {:.0f} s{}", live_ ? "\r" : "", name_, done, seeds_,
               seconds(), live_ ? "\033[K" : "\n");
    std::fflush(stderr);
  }
  void clear() const {
    if (live_) fmt::print(stderr, "\r\033[K");
  }

 private:
  std::string name_;
  std::uint64_t seeds_;
  bool live_ = isatty(STDERR_FILENO) == 1;
  double next_line_ = 10;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

void print_counts(const char* title, const std::map<std::string, std::uint64_t>& counts) {
  std::string line;
  for (const auto& [name, count] : counts)
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", count, name);
  fmt::print("  {}: {}\n", title, line.empty() ? "none" : line);
}

// Some dozens, with names of several words: a line for each, if they are asked for.
void print_points(const std::map<std::string, std::uint64_t>& counts, bool each) {
  const auto reached = std::ranges::count_if(counts, [](const auto& entry) { return entry.second > 0; });
  fmt::print("  points: {} of {} rare situations were reached{}\n", reached, counts.size(),
             each ? ":" : "; --points lists them");
  if (each)
    for (const auto& [name, count] : counts) fmt::print("  {:>12}  {}\n", count, name);
}

void print_summary(const Scenario& scenario, const SeedSummary& sum, double seconds, bool points) {
  const double simulated = std::chrono::duration<double>(sum.simulated).count();
  fmt::print(
      "{}: {} seeds, {} failed; {:.1f} s ({:.1f} seeds/s), {:.2f} simulated hours ({:.0f} x real time), "
      "{:.1f} million messages\n",
      scenario.name(), sum.seeds, sum.errors.size(), seconds, static_cast<double>(sum.seeds) / seconds,
      simulated / 3600, simulated / seconds, static_cast<double>(sum.messages) / 1e6);
  print_counts("faults", sum.faults);
  if (sum.too_late > 0)
    fmt::print(
        "  {} faults more came too late, the job was over: make it longer, or lower faults_until\n",
        sum.too_late);
  print_points(sum.points, points);
}

SimStatistics simulate_seed(const Scenario& scenario, const SimulatedJob& undisturbed, bool twice) {
  const SimulatedJob job = simulate(scenario, undisturbed);
  if (twice && simulate(scenario, undisturbed).trace_hash != job.trace_hash)
    throw Error(Code::internal, "the same seed was another run the second time");
  return job.statistics;
}

// Whether all went well.
bool simulate_seeds(const Scenario& scenario, const std::string& file, SeedRange range,
                    const SimulateCommand& command) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const std::string trace = command.trace.empty() ? scenario.name() + ".trace.json" : command.trace;
  SeedProgress progress(scenario.name(), range);
  progress.show_undisturbed();
  const SimulatedJob undisturbed = simulate_undisturbed(scenario);
  const auto body = [&] { return simulate_seed(scenario, undisturbed, command.twice); };
  progress.begin();
  const SeedSummary sum =
      run_seeds_in_processes(range, command.processes > 0 ? command.processes : cores, body,
                             [&progress](const SeedSummary& so_far) { progress.show(so_far.seeds); });
  const double seconds = progress.seconds();
  progress.clear();
  if (!sum.errors.empty()) {
    const auto& [seed, error] = *sum.errors.begin();  // the smallest
    fmt::print("{}\n", explain_seed(seed, error, body, trace, command.program(file)));
  }
  print_summary(scenario, sum, seconds, command.points);
  return sum.errors.empty();
}

// What real jobs are compared with. Their limit is one of real time; simulated steps may take longer.
SimulatedJob undisturbed_for_real(const Scenario& scenario) {
  ScenarioFlags flags = scenario.flags();
  flags.time_limit = std::chrono::nanoseconds(std::chrono::hours(1000)).count();
  return simulate_undisturbed({scenario.name(), flags});
}

// Whether all went well with real processes.
bool rehearse_seeds(const Scenario& scenario, const std::string& file, SeedRange range,
                    const SimulateCommand& command, const Interrupts& interrupts) {
  const SimulatedJob undisturbed = undisturbed_for_real(scenario);
  SeedProgress progress(scenario.name(), range);
  const RehearsalSummary sum = rehearse(
      scenario, undisturbed.report, range,
      command.processes > 0 ? command.processes : jobs_at_once(scenario), interrupts.requested(),
      [&progress](const RehearsalSummary& so_far) { progress.show(so_far.seeds); });
  progress.clear();
  for (const auto& failure : sum.failures)
    fmt::print("{}\nto try it again: {} --seeds {}\n", failure.text, command.program(file),
               failure.seed);
  fmt::print("{} as real processes: {} seeds, {} failed; {:.1f} s\n", scenario.name(), sum.seeds,
             sum.failures.size(), progress.seconds());
  print_counts("faults", sum.faults);
  const PacketCounts& packets = sum.packets;
  if (packets.carried > 0)
    fmt::print(
        "  packets: {} sent, {} lost, {} doubled, {} held back; {} between tasks without a connection\n",
        packets.carried, packets.lost, packets.doubled, packets.late, packets.separated);
  if (sum.too_late > 0)
    fmt::print(
        "  {} faults more came too late, the job was over: raise real_train_steps, or lower "
        "faults_until\n",
        sum.too_late);
  return sum.failures.empty();
}

int rehearse_all(const std::vector<std::string>& files, SeedRange range,
                 const SimulateCommand& command) {
  const Interrupts interrupts(std::chrono::seconds(3));
  std::vector<Scenario> scenarios;
  for (const auto& file : files) {
    scenarios.push_back(Scenario::read(file, command.settings).on_real_processes());
    check_possible(scenarios.back(), range);
  }
  bool well = true;
  for (std::size_t i = 0; i < files.size() && !interrupts.requested(); ++i)
    well &= rehearse_seeds(scenarios[i], files[i], range, command, interrupts);
  if (interrupts.requested()) return interrupted_run;
  return well ? success : failed_run;
}

// Those that can be real.
std::vector<std::string> training_ones(std::vector<std::string> files,
                                       const std::vector<std::string>& settings) {
  std::erase_if(files, [&](const auto& file) { return !Scenario::read(file, settings).is_training(); });
  return files;
}

int run(const SimulateCommand& command) {
  const auto files = command.files.empty() ? own_scenarios() : command.files;
  if (command.list) {
    for (const auto& file : files) fmt::print("{}\n", file);
    return success;
  }
  const std::string few = command.real ? "1..5" : "1..100";
  const SeedRange given = parse_seeds(command.seeds.empty() ? few : command.seeds);
  const SeedRange range = seeds(given.first, given.last);
  if (command.real)
    return rehearse_all(command.files.empty() ? training_ones(files, command.settings) : files, range,
                        command);
  bool well = true;
  for (const auto& file : files)
    well &= simulate_seeds(Scenario::read(file, command.settings), file, range, command);
  return well ? success : failed_run;
}

// What a scenario's file may say, for the help.
std::string scenario_options() {
  ScenarioFlags flags;
  CommandLine file(
      "A scenario's file has lines \"option = value\", with the options below, without dashes");
  file.without_help();
  flags.add_to(file);
  return file.help("FILE.scenario");
}

}  // namespace

void add_simulate_command(Command& program) {
  auto command = std::make_shared<SimulateCommand>();
  Command simulate = program.command(
      "simulate",
      "Run jobs on simulated clusters with faults, for a range of seeds, and check what comes out");
  simulate.flag(
      "--real", command->real,
      "Train with real processes in real time instead, with the same faults, and check what comes out "
      "against the simulation without faults");
  simulate.option("scenarios", command->files, "Scenario files; without any, the project's own")
      .check(existing_file());
  simulate.option("--seeds", command->seeds,
                  "A seed, or a range of them; without it 1..100, or 1..5 with --real");
  simulate
      .option("--set", command->settings,
              "OPTION=VALUE, in place of what the files say; any number of times")
      .one_at_a_time();
  simulate
      .option(
          "--processes", command->processes,
          "Seeds that run at once; 0 = one per core, or, of real jobs, as many as there are cores for")
      .check(in_range(0, 1024))
      .show_default();
  simulate
      .option("--trace", command->trace,
              "File for the trace of a failure; without it <scenario>.trace.json")
      .excludes("--real");
  simulate
      .flag("--twice", command->twice,
            "Run each seed twice: it must be the same run, message by message")
      .excludes("--real");
  simulate
      .flag(
          "--points", command->points,
          "List how often each rare situation of the engine was reached; 0: these seeds did not test it")
      .excludes("--real");
  simulate.flag("--list", command->list, "Print the scenarios' files, and do nothing");
  simulate.footer(scenario_options);
  simulate.runs([command] { return run(*command); });
}

}  // namespace actorflow
