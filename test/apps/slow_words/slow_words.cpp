// Counts words in no hurry: each line takes as many microseconds as SLOW_WORDS_US says, in this process.
// Says "counting" when it begins. With --shares each task first writes its share of all counts into that
// folder. With --format parquet the result is Parquet files.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "actors/jobs/job.h"
#include "actors/jobs/tensors/batches.h"

using namespace actorflow;

namespace {

std::chrono::microseconds time_per_line() {
  const char* text = std::getenv("SLOW_WORDS_US");
  return std::chrono::microseconds(text ? std::atoi(text) : 0);
}

std::string_view slowly(std::string_view line) {
  static const bool said = std::fputs("counting\n", stderr) >= 0;
  static const auto duration = time_per_line();
  if (said && duration.count() > 0) std::this_thread::sleep_for(duration);
  return line;
}

// By word.
template <class ReadLine>
auto counts(Job& job, ReadLine line) {
  return job.read_text(job.param("input"))
      .map(line)
      .flat_map(words)
      .map([](auto word) {
        return std::pair{word, std::int64_t{1}};
      })
      .reduce_by_key(std::plus<>{})
      .sort_by([](const auto& pair) { return pair.first; });
}

void write(const RecordShare<std::int64_t>& share, Storage& storage, const std::string& folder) {
  const StageRef stage = own_dataset(share).open({&storage, nullptr});
  stage->restart(0);
  std::ofstream file(folder + "/share" + std::to_string(share.own));
  for (Tuple count; stage->next(count);) file << count[0].values<std::int64_t>()[0] << "\n";
}

void slow_words(Job& job) {
  const std::string shares = job.param("shares", ""), format = job.param("format", "csv");
  std::optional<RecordShare<std::int64_t>> share;  // kept, so that a task that comes back gets its own
  if (!shares.empty()) {
    const auto at_once = [](std::string_view line) { return line; };
    share = share_of(counts(job, at_once).map([](const auto& pair) { return pair.second; }));
    write(*share, job.state()->storage(), shares);
  }
  if (format == "parquet") return counts(job, slowly).write_parquet(job.param("output"));
  counts(job, slowly).write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"slow_words", slow_words}}); }
