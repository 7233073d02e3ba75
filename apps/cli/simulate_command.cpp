#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "actors/simulation/seeds.h"
#include "apps/cli/commands.h"
#include "apps/cli/program.h"
#include "apps/scenario/seed_runs.h"
#include "apps/scenario/simulate.h"
#include "dataflow/error.h"

namespace actorflow {
namespace {

struct SimulateCommand {
  std::vector<std::string> files;
  std::string seeds = "1..100";
  int processes = 0;  // one per core
  std::string trace;
  bool twice = false;
  bool list = false;
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
    if (end == 0 || end != part.size())
      throw UsageError("--seeds: expected a number or a range as 1..1000, got '" + text + "'");
    return value;
  };
  const auto dots = text.find("..");
  const SeedRange range = dots == std::string::npos
                              ? SeedRange{number(text), number(text)}
                              : SeedRange{number(text.substr(0, dots)), number(text.substr(dots + 2))};
  if (range.first > range.last)
    throw UsageError(fmt::format("--seeds: the first, {}, is after the last, {}", range.first, range.last));
  return range;
}

// One line on a terminal that tells how far the seeds are.
class SeedProgress {
 public:
  SeedProgress(std::string name, std::uint64_t seeds) : name_(std::move(name)), seeds_(seeds) {}

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  void show(const SeedSummary& sum) const {
    if (!isatty(STDERR_FILENO)) return;
    fmt::print(stderr, "\r{}: {} of {} seeds, {:.1f} seeds/s ", name_, sum.seeds, seeds_,
               static_cast<double>(sum.seeds) / seconds());
    std::fflush(stderr);
  }
  void clear() const {
    if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K");
  }

 private:
  std::string name_;
  std::uint64_t seeds_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

void print_counts(const char* title, const std::map<std::string, std::uint64_t>& counts) {
  std::string line;
  for (const auto& [name, count] : counts)
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", count, name);
  fmt::print("  {}: {}\n", title, line.empty() ? "none" : line);
}

void print_summary(const Scenario& scenario, const SeedSummary& sum, double seconds) {
  const double simulated = std::chrono::duration<double>(sum.simulated).count();
  fmt::print("{}: {} seeds, {} failed; {:.1f} s ({:.1f} seeds/s), {:.2f} simulated hours ({:.0f} x real time), "
             "{:.1f} million messages\n",
             scenario.name(), sum.seeds, sum.failures.size(), seconds,
             static_cast<double>(sum.seeds) / seconds, simulated / 3600, simulated / seconds,
             static_cast<double>(sum.messages) / 1e6);
  print_counts("faults", sum.faults);
  print_counts("points", sum.points);
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
  const SimulatedJob undisturbed = simulate_undisturbed(scenario);
  const SeedProgress progress(scenario.name(), range.last - range.first + 1);
  const SeedSummary sum = run_seeds_in_processes(
      range, command.processes > 0 ? command.processes : cores,
      [&] { return simulate_seed(scenario, undisturbed, command.twice); }, trace,
      [&progress](const SeedSummary& so_far) { progress.show(so_far); });
  progress.clear();
  for (const auto& failure : sum.failures)
    fmt::print("{}\nthe program is: actorflow simulate {}\nwhat happened is in {}, which ui.perfetto.dev opens\n",
               failure, file, trace);
  print_summary(scenario, sum, progress.seconds());
  return sum.failures.empty();
}

int run(const SimulateCommand& command) {
  const auto files = command.files.empty() ? own_scenarios() : command.files;
  if (command.list) {
    for (const auto& file : files) fmt::print("{}\n", file);
    return success;
  }
  const SeedRange given = parse_seeds(command.seeds);
  const SeedRange range = seeds(given.first, given.last);
  bool well = true;
  for (const auto& file : files) well &= simulate_seeds(Scenario::read(file), file, range, command);
  return well ? success : failed_run;
}

// What a scenario's file may say, for the help.
std::string scenario_options() {
  ScenarioFlags flags;
  CLI::App app("A scenario's file has lines \"option = value\", with the options below, without dashes");
  app.set_help_flag();
  flags.add_to(app);
  return app.help("FILE.scenario");
}

}  // namespace

void add_simulate_command(CLI::App& app, Command& chosen) {
  auto command = std::make_shared<SimulateCommand>();
  CLI::App* simulate = app.add_subcommand(
      "simulate", "Train on simulated clusters with faults, for a range of seeds, and check what comes out");
  simulate->add_option("scenarios", command->files, "Scenario files; without any, the project's own")
      ->check(CLI::ExistingFile);
  simulate->add_option("--seeds", command->seeds, "A seed, or a range of them")->capture_default_str();
  simulate->add_option("--processes", command->processes, "Seeds that run at once; 0 = one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  simulate->add_option("--trace", command->trace,
                       "File for the trace of a failure; without it <scenario>.trace.json");
  simulate->add_flag("--twice", command->twice, "Run each seed twice: it must be the same run, message by message");
  simulate->add_flag("--list", command->list, "Print the scenarios' files, and do nothing");
  simulate->footer(scenario_options);
  simulate->callback([command, &chosen] { chosen = [command] { return run(*command); }; });
}

}  // namespace actorflow
