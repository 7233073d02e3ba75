// The files that a job reads, cut into parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"
#include "schema/formats/byte_source.h"
#include "schema/formats/split.h"

namespace actorflow {

// The files of an input. The list is the same on every task, whatever the order in which a folder lists
// its files.
struct InputFiles {
  std::vector<FileSize> files;  // by path
  std::vector<std::vector<Split>> parts;
  std::uint64_t bytes = 0;

  std::uint64_t size(const Split& split) const {
    return std::min(split.end, files[split.file].bytes) - split.begin;
  }
  std::uint64_t size(const std::vector<Split>& splits) const;
  // For files of a format, named `format`, that begin with a header. Throws data_loss for an empty one.
  void expect_headers(const char* format) const;
  // "3 files of 12000 bytes (5f3a...)": the same for files of the same names and sizes.
  std::string describe() const;
  // "last changed at 2026-11-23 18:04:05.678901234 UTC (77ab...)": the same for files none of which was
  // written again; "" where the storage does not know.
  // Looks at the files once, when it is first asked. For the job's thread.
  const std::string& describe_times(Storage& storage) const;
  // Names the largest of the files that are not cut though they are larger than a part should be: one
  // thread reads all of it. Empty if there is none.
  std::string warning(std::uint64_t split_bytes) const;

 private:
  mutable std::optional<std::string> times_;
};

// `pattern`: a file, a folder (all its files but those whose names begin with '.' or '_'), or a pattern
// as of a shell (*, ?, [a-z]) whose last component only has wildcards; or several of these, with commas
// between. Part files that a killed job was writing are none. Throws not_found if there is nothing,
// naming the pattern; data_loss for a compressed file of no bytes, which was cut.
std::shared_ptr<const InputFiles> find_input(Storage& storage, const std::string& pattern,
                                             std::uint64_t split_bytes);

// The short pieces, from all over its splits, that a part reads to take a sample.
std::vector<Split> pieces_of(const InputFiles& input, const std::vector<Split>& splits);

}  // namespace actorflow
