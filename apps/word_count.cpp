// How often each word occurs in some texts: rows "word,count".
//
//   word_count --input 'books/*.txt' --output counts
#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

void word_count(Job& job) {
  job.read_text(job.param("input"))
      .flat_map(words)
      .map([](auto word) {
        return std::pair{word, std::int64_t{1}};
      })
      .reduce_by_key(std::plus<>{})
      .write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"word_count", word_count}}); }
