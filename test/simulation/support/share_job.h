// A simulated job on several tasks as a dataset: each task writes its share of the records into a file.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/jobs/tensors/batches.h"
#include "actors/simulation/world/world.h"
#include "test/simulation/support/word_job.h"

namespace actorflow::test {

// How often each word is in the text, in the order of the words.
inline auto counts_by_word(Job& job) {
  return job.read_text(job.param("input"))
      .flat_map(words)
      .map([](auto word) {
        return std::pair{word, std::int64_t{1}};
      })
      .reduce_by_key(std::plus<>())
      .sort_by([](const auto& count) { return count.first; })
      .map([](const auto& count) { return count.second; });
}

inline std::string share_file(int task) { return "share" + std::to_string(task); }

inline std::string text_of(const Dataset& elements, Storage& storage) {
  const StageRef stage = elements.open({&storage, nullptr});
  stage->restart(0);
  std::string text;
  for (Tuple element; stage->next(element);)
    text += std::to_string(element[0].values<std::int64_t>()[0]) + "\n";
  return text;
}

inline JobOptions options_of_counts() {
  JobOptions options = options_of_test();
  options.parameters = {{"input", "in"}};
  return options;
}

// The share of this task; none if the job had ended before it came. `later`: the rest of the job.
inline std::optional<Dataset> share_of_job(SimTask& task, const JobFunction& later) {
  std::optional<Dataset> share;
  const JobTable jobs{{"counts", [&](Job& job) {
                         share = own_dataset(share_of(counts_by_word(job)));
                         later(job);
                       }}};
  run_job(task.server(), jobs, "counts", options_of_counts());
  return share;
}

inline void write_share(SimTask& task, const Dataset& share) {
  const std::string text = text_of(share, task.storage());
  task.storage().write_atomically(share_file(task.server().name().index),
                                  std::as_bytes(std::span(text)));
}

// Takes part until the first task has written its share: that one may be lost before, and needs all of
// them to run the job again. A task that comes when the job has ended without it finds nobody who makes
// its share again, and is told so.
inline void share_until_the_first_has_its_own(SimTask& task) {
  write_input(task.storage());
  while (!task.storage().exists(share_file(0))) try {
      const auto share = share_of_job(task, [](Job& job) { counts_by_word(job).count(); });
      if (share) write_share(task, *share);
    } catch (const Error& error) {
      if (error.code() != Code::unavailable) throw;
    }
}

inline const std::vector<std::string>& undisturbed_counts() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> lines;
    SimCluster sim({{"local", 1}}, SimOptions{});
    sim.start([&lines](SimTask& task) {
         write_input(task.storage());
         Job job(options_of_counts(), task.server().runtime());
         for (const auto count : counts_by_word(job).collect()) lines.push_back(std::to_string(count));
       })
        .finish();
    return lines;
  }();
  if (all.size() != 500) throw std::logic_error("500 words were expected");
  return all;
}

// Throws unless what the task has written is its share of all counts.
inline void expect_share(SimCluster& sim, const std::vector<std::string>& all, int task) {
  std::string expected;
  for (auto i = static_cast<std::size_t>(task); i < all.size(); i += sim.cluster().all_tasks().size())
    expected += all[i] + "\n";
  if (text_of_file(sim.storage(), share_file(task)) != expected)
    throw std::runtime_error("task " + std::to_string(task) + " has another share");
}

// Throws unless all shares that were written are those of an undisturbed run, the first task's among
// them, and all of them if nothing was disturbed.
inline void deal_out_through(const std::vector<FaultKind>& kinds, int tasks) {
  const auto& all = undisturbed_counts();
  const SimOptions options = options_of_a_short_job();
  SimCluster sim({{"local", tasks}}, options);
  disturb_a_short_job(sim, options.seed, kinds);
  sim.start(share_until_the_first_has_its_own).finish();
  expect_no_task_has_ended_itself(sim);
  sim.storage().files().set_failures(0);
  for (int task = 0; task < tasks; ++task)
    if (task == 0 || kinds.empty() || sim.storage().exists(share_file(task)))
      expect_share(sim, all, task);
}

// All tasks have their shares some 3 s after the beginning, and the stage then takes more than 40 s: so
// none may be without its share when the job has ended.
inline void share_and_go_on(SimTask& task) {
  write_input(task.storage());
  const auto share = share_of_job(task, [](Job& job) { job.from(std::vector<int>(800), 800).count(); });
  if (!share) throw std::logic_error("the job has ended without this task's share");
  write_share(task, *share);
}

// Tasks beside the first are lost when all have their shares, in a later stage of the job, and come
// back. Throws unless each has its share in the end.
inline void lose_shares_later(int tasks) {
  const auto& all = undisturbed_counts();
  SimOptions options = of_this_seed({});
  options.longest_kernel = 40ms;
  SimCluster sim({{"local", tasks}}, options);
  auto losers = sim.cluster().all_tasks();
  losers.erase(losers.begin());
  sim.apply(random_fault_plan(
      options.seed, losers,
      {.count = 3, .from = 6s, .until = 10s, .longest = 2s, .kinds = {FaultKind::kill}}));
  sim.start(share_and_go_on).finish();
  for (int task = 0; task < tasks; ++task) expect_share(sim, all, task);
}

// The job ends while a task catches up what it has lost, at a moment that differs between the seeds:
// that task has its share, or is told that it has none. Returns whether it has it.
inline bool end_while_one_catches_up(int tasks, bool keeps_dataset = true) {
  const auto& all = undisturbed_counts();
  SimOptions options = of_this_seed({});
  options.longest_kernel = 40ms;
  options.time_limit = 5min;
  SimCluster sim({{"local", tasks}}, options);
  sim.at(6s).kill("/job:local/task:1");
  sim.at(6200ms).restart("/job:local/task:1");
  const auto rest = keeps_dataset ? std::chrono::milliseconds(250 + 20 * (options.seed % 20)) : 10s;
  bool is_told = false;
  sim.start([&](SimTask& task) {
       write_input(task.storage());
       std::optional<Dataset> share;
       const JobTable jobs{{"counts", [&](Job& job) {
                              share = own_dataset(share_of(counts_by_word(job)));
                              if (!keeps_dataset) share.reset();
                              const auto until = World::beginning + 6s + rest;
                              Clock& clock = task.server().runtime()->clock();
                              if (job.coordinates() && clock.now() < until)
                                task.sleep(until - clock.now());
                            }}};
       try {
         run_job(task.server(), jobs, "counts", options_of_counts());
       } catch (const Error& error) {
         if (error.code() != Code::unavailable || task.life() == 1) throw;
         const std::string why = error.what();
         is_told = why.find(keeps_dataset ? "before this task had again what it alone keeps"
                                          : "the first task keeps the dataset no longer") != why.npos;
         if (!is_told) throw;
         return;
       }
       if (!share && keeps_dataset) throw std::logic_error("the job has ended without its share");
       if (share) write_share(task, *share);
     })
      .finish();
  if (keeps_dataset && !is_told)
    for (int task = 0; task < tasks; ++task) expect_share(sim, all, task);
  return !is_told;
}

}  // namespace actorflow::test
