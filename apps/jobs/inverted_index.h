// Which files each word occurs in: rows "word,number of files,files", by word.
#pragma once

#include "actors/jobs/job.h"

namespace actorflow {

// The numbers of some files, in order.
struct FileNumbers {
  std::uint32_t last = ~std::uint32_t{0};  // looked at for each word, and nearer than the end of `all`
  std::vector<std::uint32_t> all;
};

inline void inverted_index(Job& job) {
  const std::string input = job.param("input"), output = job.param("output");
  const auto paths = std::make_shared<const std::vector<std::string>>(job.input_files(input));
  const auto words_with_file = [](const auto& line) {
    return words(line.second) | std::views::transform([file = line.first](auto word) {
             return std::pair{word, file};
           });
  };
  // Files come in their order: the last one tells whether this one is new.
  const auto add = [](FileNumbers& files, std::uint32_t file) {
    if (files.last != file) files.all.push_back(files.last = file);
  };
  // Of two parts, which may share a file that was cut.
  const auto append = [](FileNumbers& files, const FileNumbers& later) {
    const bool shared = !later.all.empty() && files.last == later.all.front();
    files.all.insert(files.all.end(), later.all.begin() + shared, later.all.end());
    files.last = later.last;
  };
  job.read_numbered_text(input)
      .flat_map(words_with_file)
      .fold_by_key(FileNumbers(), add, append)
      .sort_by([](const auto& entry) -> const auto& { return entry.first; })
      .map([paths, join = TextJoiner(' ')](const auto& entry) mutable {
        const auto& [word, files] = entry;
        const auto path = [&](std::uint32_t file) -> const auto& { return (*paths)[file]; };
        return std::tuple{word, static_cast<std::int64_t>(files.all.size()), join(files.all, path)};
      })
      .write_csv(output);
}

}  // namespace actorflow
