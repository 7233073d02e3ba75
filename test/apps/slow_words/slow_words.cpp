// Counts words in no hurry: each line takes as many microseconds as SLOW_WORDS_US says, in this process.
// Says "counting" when it begins.
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "actors/jobs/job.h"

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

void slow_words(Job& job) {
  job.read_text(job.param("input"))
      .map(slowly)
      .flat_map(words)
      .map([](auto word) {
        return std::pair{word, std::int64_t{1}};
      })
      .reduce_by_key(std::plus<>{})
      .sort_by([](const auto& pair) { return pair.first; })
      .write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"slow_words", slow_words}}); }
