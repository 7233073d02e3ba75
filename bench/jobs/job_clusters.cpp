// Map/reduce jobs on several processes of this machine: against one process of as many threads, and with
// a process that is killed or slow against those that nothing disturbs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "bench/harness.h"
#include "bench/jobs/job_files.h"
#include "bench/program.h"

namespace actorflow::bench {
namespace {

// Two processes and one of two threads get the same memory together. It is enough that none of them puts
// records aside: half of it is for records on their way, of which a process has its own and some that
// it has fetched.
constexpr const char* memory_of_thread = "--memory 1500MB";
constexpr const char* memory_of_threads = "--memory 3000MB";

// A script that runs the program on so many processes, of one thread each, and waits for the first.
// `disturb`: shell commands that may use $last, the process of the last task.
double seconds_of_cluster(const std::string& name, const std::string& arguments, int tasks,
                          const std::string& disturb = "") {
  const std::string cluster = fmt::format("{}", fmt::join(free_addresses(tasks), ","));
  const std::string base = fmt::format("{} --cluster {} --tasks 1 {} --heartbeat_timeout_ms 1000",
                                       path_of_program(name), cluster, memory_of_thread);
  std::string script;
  for (int task = 1; task < tasks; ++task)
    script += fmt::format("{} --task_index {} >/dev/null 2>&1 & last=$!\n", base, task);
  if (!disturb.empty()) script += fmt::format("( {} ) 2>/dev/null & disturber=$!\n", disturb);
  script += fmt::format("{} --task_index 0 --quiet --overwrite {} >/dev/null 2>&1 || exit 1\n", base,
                        arguments);
  if (!disturb.empty()) script += "kill $disturber 2>/dev/null; kill -CONT $last 2>/dev/null\n";
  script += "wait; exit 0\n";
  const std::string path = job_folder() + "/cluster.sh";
  std::ofstream(path) << script;
  return seconds_of([&] {
    if (std::system(("bash " + path + " 2>/dev/null").c_str()) != 0)
      throw std::runtime_error("failed: " + name + " on several processes");
  });
}

double seconds_of_threads(const std::string& name, const std::string& arguments) {
  return seconds_of_program(name, fmt::format("{} {}", arguments, memory_of_threads));
}

std::string ours() { return job_folder() + "/cluster_ours"; }
std::string expected() { return job_folder() + "/cluster_expected"; }

std::string to_words(bool quick, const std::string& output, std::uint64_t bytes = 400'000'000) {
  return fmt::format("--input {} --output {} --split_bytes 8MB", text_of(quick ? 1'000'000 : bytes),
                     output);
}
std::string to_sort(bool quick, const std::string& output) {
  return fmt::format("--input {} --output {}", records_of(quick ? 10'000 : 10'000'000), output);
}

// Both have written the same bytes in the end, whatever one of them went through.
Measurement of_equal_files(const Measurement& measured) {
  expect_files(ours(), expected());
  return measured;
}

// A part that is slow is run again after a second: the job takes several.
constexpr std::uint64_t long_text = 2'000'000'000;

// 90 of 100 ms it stands still.
constexpr const char* ten_times_slower =
    "while kill -STOP $last; do sleep 0.09; kill -CONT $last; sleep 0.01; done";

}  // namespace

std::vector<Benchmark> job_cluster_benchmarks() {
  return {
      {"jobs/two_processes_word_count", "s", "one process of two threads", at_most(1.3),
       [](bool quick) {
         return of_equal_files(in_turn(
             quick ? 1 : job_turns,
             [&] { return seconds_of_cluster("word_count", to_words(quick, ours()), 2); },
             [&] { return seconds_of_threads("word_count", to_words(quick, expected())); }));
       }},
      {"jobs/two_processes_terasort", "s", "one process of two threads", at_most(1.3),
       [](bool quick) {
         return of_equal_files(in_turn(
             quick ? 1 : job_turns,
             [&] { return seconds_of_cluster("terasort", to_sort(quick, ours()), 2); },
             [&] { return seconds_of_threads("terasort", to_sort(quick, expected())); }));
       }},
      {"jobs/terasort_one_of_four_killed", "s", "1.4 times the undisturbed job, and 5 s", at_most(1),
       [](bool quick) {
         double undisturbed = 0;
         return of_equal_files(in_turn(
             quick ? 1 : job_turns,
             [&] {
               undisturbed = seconds_of_cluster("terasort", to_sort(quick, expected()), 4);
               return seconds_of_cluster("terasort", to_sort(quick, ours()), 4,
                                         fmt::format("sleep {:.2f}; kill -9 $last", undisturbed / 2));
             },
             [&] { return 1.4 * undisturbed + 5; }));
       }},
      {"jobs/word_count_one_of_four_slow", "s", "the undisturbed job", at_most(1.3),
       [](bool quick) {
         return of_equal_files(in_turn(
             quick ? 1 : job_turns,
             [&] {
               return seconds_of_cluster("word_count", to_words(quick, ours(), long_text), 4,
                                         ten_times_slower);
             },
             [&] {
               return seconds_of_cluster("word_count", to_words(quick, expected(), long_text), 4);
             }));
       }},
  };
}

}  // namespace actorflow::bench
