// What the parts of a stage have made for later stages: in the chunks of this task, and in those that
// came from others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/messages/stage.h"
#include "actors/jobs/slices/chunk_store.h"
#include "dataflow/values/error.h"

namespace actorflow {

using StoredChunks = std::vector<StoredChunkRef>;

// What a part has read in vain.
struct LostSlices {
  StageNumber stage = 0;
  std::size_t part = 0;
  std::shared_ptr<const StoredChunks> chunks;  // null: they are not here
  bool is_own = false;                         // of a part of this task
};

// Records of an earlier stage that a part reads are not here (aborted), or not what was kept
// (data_loss): whoever reads them can run again when they are.
class LostRecords : public Error {
 public:
  LostRecords(Code code, const std::string& message, LostSlices which)
      : Error(code, message), slices(std::move(which)) {}

  LostSlices slices;
};

// Thread-safe.
class KeptRecords {
 public:
  KeptRecords(StageNumber stage, std::size_t parts, std::size_t partitions);

  StageNumber stage() const { return stage_; }
  std::size_t parts() const { return num_parts_; }
  std::size_t partitions() const { return num_partitions_; }

  // A part of this task.
  void keep(std::size_t part, StoredChunks chunks);
  // A slice of another task's part, as chunks of one partition; what was there is replaced.
  void keep_fetched(std::size_t part, std::size_t partition, StoredChunks chunks);
  void drop_fetched(const SliceSet& set);
  bool has(std::size_t part, std::size_t partition) const;
  // These chunks of the part are not read any more; what has come in their place stays. Returns whether
  // they were still here.
  bool lose(std::size_t part, const std::shared_ptr<const StoredChunks>& chunks);

  // The chunks of a part, and which of their slices is the partition's. Throws LostRecords if they are
  // not here, and invalid_argument if there is no such part or partition.
  struct Slices {
    std::shared_ptr<const StoredChunks> chunks;
    std::size_t partition = 0;
    bool is_own = false;  // they are of a part of this task
  };
  Slices slices(std::size_t part, std::size_t partition) const;

  // What all parts have made together, here or elsewhere; known when the stage has ended.
  void set_sizes(std::span<const PartOutcome> outcomes);
  // Of all parts before this one.
  std::uint64_t records_before(std::size_t part) const;
  std::uint64_t bytes() const;

 private:
  using Key = std::pair<std::size_t, std::size_t>;  // part, partition

  void expect(std::size_t part, std::size_t partition) const;

  const StageNumber stage_;
  const std::size_t num_parts_, num_partitions_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const StoredChunks>> own_;  // by part; null: none of this task
  std::map<Key, std::shared_ptr<const StoredChunks>> fetched_;
  std::vector<std::uint64_t> records_before_;
  std::uint64_t bytes_ = 0;
};

// The records that are kept, by stage, for whoever asks for slices of them. Thread-safe.
class KeptStages {
 public:
  void add(StageNumber stage, const std::shared_ptr<KeptRecords>& records);
  void remove(StageNumber stage);
  // Null if they are not kept here, or not any more.
  std::shared_ptr<KeptRecords> find(StageNumber stage) const;

 private:
  mutable std::mutex mutex_;
  std::map<StageNumber, std::weak_ptr<KeptRecords>> stages_;
};

// Slices of a stage's records, one by one, in the order of the parts that made them.
class SliceReader {
 public:
  struct Slice {
    std::span<const std::byte> bytes;  // valid until the next call; as long as the reader if in_memory
    std::uint64_t records = 0;
    bool in_memory = true;
  };

  // Of all parts, what is for the partition.
  static SliceReader of_partition(std::shared_ptr<const KeptRecords> kept, std::size_t partition);
  // All of one part. REQUIRES: the records have one partition.
  static SliceReader of_part(std::shared_ptr<const KeptRecords> kept, std::size_t part);

  // False at the end. Throws LostRecords.
  bool next(Slice& slice);

 private:
  SliceReader(std::shared_ptr<const KeptRecords> kept, std::size_t partition, std::size_t first,
              std::size_t last)
      : kept_(std::move(kept)), partition_(partition), part_(first), last_(last) {}

  void read(const StoredChunk& chunk);

  std::shared_ptr<const KeptRecords> kept_;
  std::size_t partition_;
  std::size_t part_, last_;  // of the parts that are left
  KeptRecords::Slices now_;
  std::size_t chunk_ = 0;
  std::vector<std::shared_ptr<const StoredChunks>> in_use_;  // slices in memory stay valid
  std::vector<std::byte> buffer_;
};

}  // namespace actorflow
