// The words that occur most often: rows "word,count", the most frequent first.
//
//   top_k --input 'books/*.txt' --output top --k 20
#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

void top_k(Job& job) {
  job.read_text(job.param("input"))
      .flat_map(words)
      .key_by(std::identity())
      .count_by_key()
      .top(job.param<std::size_t>("k", 10),
           [](const auto& word) { return std::pair(word.second, word.first); })
      .write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"top_k", top_k}}); }
