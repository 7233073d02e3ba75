// Which files each word occurs in: rows "word,number of files,files", by word.
//
//   inverted_index --input books --output index
#include "actors/jobs/job.h"

using namespace actorflow;

namespace {

struct Entry {
  std::string word;
  std::int64_t count = 0;
  std::vector<std::string> files;
};

auto words_with_file(const std::pair<std::string_view, std::string_view>& line) {
  return words(line.second) | std::views::transform([file = line.first](auto word) {
           return std::pair{word, file};
         });
}

void inverted_index(Job& job) {
  job.read_named_text(job.param("input"))
      .flat_map(words_with_file)
      .distinct()
      .group_by_key([](auto word, auto& files) {
        Entry entry{std::string(word), 0, {}};
        for (auto file : files) entry.files.emplace_back(file);
        std::ranges::sort(entry.files);
        entry.count = static_cast<std::int64_t>(entry.files.size());
        return entry;
      })
      .sort_by(&Entry::word)
      .write_csv(job.param("output"));
}

}  // namespace

int main(int argc, char** argv) { return run_jobs(argc, argv, {{"inverted_index", inverted_index}}); }
