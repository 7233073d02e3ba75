// Which files each word occurs in: rows "word,number of files,files", by word.
#pragma once

#include <algorithm>

#include "actors/jobs/job.h"

namespace actorflow {

using FileNumbers = std::vector<std::uint32_t>;  // their numbers, in order

inline auto words_with_file(const std::pair<std::uint32_t, std::string_view>& line) {
  return words(line.second) | std::views::transform([file = line.first](auto word) {
           return std::pair{word, file};
         });
}

// Files come in their order: the last one tells whether this one is new.
inline void add_file(FileNumbers& files, std::uint32_t file) {
  if (files.empty() || files.back() != file) files.push_back(file);
}

// Of two parts, which may share a file that was cut.
inline void append_files(FileNumbers& files, const FileNumbers& later) {
  const bool shared = !files.empty() && !later.empty() && files.back() == later.front();
  files.insert(files.end(), later.begin() + shared, later.end());
}

inline void inverted_index(Job& job) {
  const std::string& input = job.param("input");
  const auto paths = std::make_shared<const std::vector<std::string>>(job.input_files(input));
  job.read_numbered_text(input)
      .flat_map(words_with_file)
      .fold_by_key(FileNumbers(), add_file, append_files)
      .sort_by([](const auto& entry) -> const auto& { return entry.first; })
      .map([paths](const auto& entry) {
        const auto& [word, files] = entry;
        std::vector<std::string> names;
        for (const std::uint32_t file : files) names.push_back((*paths)[file]);
        return std::tuple{word, static_cast<std::int64_t>(files.size()), std::move(names)};
      })
      .write_csv(job.param("output"));
}

}  // namespace actorflow
