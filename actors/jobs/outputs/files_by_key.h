// A part's pairs as files by key: in the folder of each key a file of its values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "actors/jobs/outputs/column_folders.h"
#include "actors/jobs/outputs/outputs.h"
#include "actors/jobs/sorting/record_order.h"
#include "actors/jobs/sorting/record_sorter.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// Of pairs that come key by key: one file is written at a time, by a Sink(part, folder, parts,
// arguments...).
template <class K, class V, class Sink, class... Arguments>
class FilesByKey {
 public:
  FilesByKey(Part& part, std::string folder, std::size_t parts, std::string column,
             Arguments... arguments)
      : part_(part),
        folder_(std::move(folder)),
        parts_(parts),
        column_(std::move(column)),
        arguments_(std::move(arguments)...) {}

  void operator()(const std::pair<K, V>& pair) {
    if (!file_ || pair.first != key_) begin(pair.first);
    (*file_)(pair.second);
  }
  void finish() {
    if (file_) file_->finish();
  }

 private:
  void begin(const K& key) {
    finish();
    if (++files_ > most_column_values) throw_many_values(column_);
    key_ = stored(key);
    const std::string folder = folder_ + "/" + column_folder_of(column_, key);
    std::apply([&](const auto&... each) { file_.emplace(part_, folder, parts_, each...); }, arguments_);
  }

  Part& part_;
  const std::string folder_;
  const std::size_t parts_;
  const std::string column_;
  const std::tuple<Arguments...> arguments_;
  StoredRecord<K> key_{};
  std::optional<Sink> file_;
  std::size_t files_ = 0;
};

// Brings the pairs of each key together first, in their order, by sorting them: in a quarter of the
// part's memory, beside what makes them, else on disk.
template <class K, class V, class Files>
class SortedFilesByKey {
 public:
  template <class... Arguments>
  SortedFilesByKey(Part& part, const std::string& folder, std::size_t parts, Arguments... arguments)
      : part_(part),
        sorter_(part, part.memory_bytes() / 4, HashOrder<K, V>()),
        files_(part, folder, parts, std::move(arguments)...) {}

  void operator()(const std::pair<K, V>& pair) {
    const std::size_t begin = block_.size(), bytes = encoded_size(pair);
    part_.expect_room_for(bytes);
    block_.resize(begin + bytes);
    encode(pair, block_.data() + begin);
    ++records_;
    if (block_.size() >= block_bytes) give_block();
  }
  void finish() {
    give_block();
    while (const std::pair<K, V>* pair = sorter_.next()) files_(*pair);
    files_.finish();
  }

 private:
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  void give_block() {
    if (records_ > 0) sorter_.add({block_, records_, false});
    block_.clear();
    records_ = 0;
  }

  Part& part_;
  RecordSorter<std::pair<K, V>, HashOrder<K, V>> sorter_;
  Files files_;
  std::vector<std::byte> block_;
  std::uint64_t records_ = 0;
};

}  // namespace actorflow
