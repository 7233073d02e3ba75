// Counts words in no hurry: each line takes as many microseconds as SLOW_WORDS_US says, in this process.
// Says "counting" when it begins. With --shares each task first writes its share of all counts into that
// folder; with --wide_shares 1 each count takes 100 kB there. With --format parquet the result is
// Parquet files.
#include <any>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
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

using Wide = std::array<std::int64_t, 12'500>;

Wide widened(std::int64_t count) {
  Wide wide;
  wide.fill(count);
  return wide;
}

template <class T>
void write(const RecordShare<T>& share, Storage& storage, const std::string& folder) {
  const StageRef stage = own_dataset(share).open({&storage, nullptr});
  stage->restart(0);
  std::ofstream file(folder + "/share" + std::to_string(share.own));
  for (Tuple count; stage->next(count);) file << count[0].values<std::int64_t>()[0] << "\n";
}

// To be kept, so that a task that comes back gets its own.
template <class Value>
auto written_share(Job& job, const std::string& folder, Value value) {
  const auto at_once = [](std::string_view line) { return line; };
  const auto share =
      share_of(counts(job, at_once).map([value](const auto& pair) { return value(pair.second); }));
  write(share, job.state()->storage(), folder);
  return share;
}

void slow_words(Job& job) {
  const std::string shares = job.param("shares", ""), format = job.param("format", "csv");
  const bool are_wide = job.param("wide_shares", false);
  std::any share;
  if (!shares.empty() && are_wide)
    share = written_share(job, shares, widened);
  else if (!shares.empty())
    share = written_share(job, shares, [](std::int64_t count) { return count; });
  const auto counted = [lines = job.counter("lines")](std::string_view line) {
    lines.add();
    return slowly(line);
  };
  if (format == "parquet") return counts(job, counted).write_parquet(job.param("output"));
  counts(job, counted).write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"slow_words", slow_words}}); }
