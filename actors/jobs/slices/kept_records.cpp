#include "actors/jobs/slices/kept_records.h"

#include <fmt/format.h>

namespace actorflow {

KeptRecords::KeptRecords(StageNumber stage, std::size_t parts, std::size_t partitions)
    : stage_(stage), num_parts_(parts), num_partitions_(partitions), own_(parts) {}

void KeptRecords::keep(std::size_t part, StoredChunks chunks) {
  auto kept = std::make_shared<const StoredChunks>(std::move(chunks));
  const std::lock_guard lock(mutex_);
  own_.at(part) = std::move(kept);
}

void KeptRecords::keep_fetched(std::size_t part, std::size_t partition, StoredChunks chunks) {
  auto kept = std::make_shared<const StoredChunks>(std::move(chunks));
  const std::lock_guard lock(mutex_);
  fetched_[{part, partition}] = std::move(kept);
}

void KeptRecords::drop_fetched(const SliceSet& set) {
  const std::lock_guard lock(mutex_);
  std::erase_if(fetched_, [&](const auto& slices) {
    return (set.of_one_part ? slices.first.first : slices.first.second) == set.index;
  });
}

bool KeptRecords::has(std::size_t part, std::size_t partition) const {
  expect(part, partition);
  const std::lock_guard lock(mutex_);
  return own_[part] || fetched_.contains({part, partition});
}

bool KeptRecords::lose(std::size_t part, const std::shared_ptr<const StoredChunks>& chunks) {
  const std::lock_guard lock(mutex_);
  if (own_.at(part) == chunks) return std::exchange(own_[part], nullptr) != nullptr;
  return std::erase_if(fetched_, [&](const auto& slices) { return slices.second == chunks; }) > 0;
}

// Which they are may be what another task says.
void KeptRecords::expect(std::size_t part, std::size_t partition) const {
  if (part >= num_parts_ || partition >= num_partitions_)
    throw invalid_argument(fmt::format(
        "stage run {}: expected one of its {} parts and {} partitions, got part {} and partition {}",
        stage_, num_parts_, num_partitions_, part, partition));
}

KeptRecords::Slices KeptRecords::slices(std::size_t part, std::size_t partition) const {
  const std::lock_guard lock(mutex_);
  expect(part, partition);
  if (own_[part]) return {own_[part], partition, true};
  if (const auto found = fetched_.find({part, partition}); found != fetched_.end())
    return {found->second, 0, false};
  throw LostRecords(Code::aborted,
                    fmt::format("the records of part {} for partition {} are not here", part, partition),
                    {stage_, part, nullptr, false});
}

void KeptRecords::set_sizes(std::span<const PartOutcome> outcomes) {
  const std::lock_guard lock(mutex_);
  records_before_.assign(1, 0);
  bytes_ = 0;
  for (const auto& outcome : outcomes) {
    records_before_.push_back(records_before_.back() + outcome.kept_records);
    bytes_ += outcome.kept_bytes;
  }
}

std::uint64_t KeptRecords::records_before(std::size_t part) const {
  const std::lock_guard lock(mutex_);
  return records_before_.at(part);
}

std::uint64_t KeptRecords::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void KeptStages::add(StageNumber stage, const std::shared_ptr<KeptRecords>& records) {
  const std::lock_guard lock(mutex_);
  stages_[stage] = records;
}

void KeptStages::remove(StageNumber stage) {
  const std::lock_guard lock(mutex_);
  stages_.erase(stage);
}

std::shared_ptr<KeptRecords> KeptStages::find(StageNumber stage) const {
  const std::lock_guard lock(mutex_);
  const auto found = stages_.find(stage);
  return found == stages_.end() ? nullptr : found->second.lock();
}

SliceReader SliceReader::of_partition(std::shared_ptr<const KeptRecords> kept, std::size_t partition) {
  const std::size_t parts = kept->parts();
  return {std::move(kept), partition, 0, parts};
}

SliceReader SliceReader::of_part(std::shared_ptr<const KeptRecords> kept, std::size_t part) {
  return {std::move(kept), 0, part, part + 1};
}

void SliceReader::read(const StoredChunk& chunk) {
  buffer_.resize(chunk.slice_bytes(now_.partition));
  try {
    chunk.read(now_.partition, buffer_);
  } catch (const Error& error) {
    if (error.code() != Code::data_loss) throw;
    throw LostRecords(error.code(), error.what(), {kept_->stage(), part_, now_.chunks, now_.is_own});
  }
}

bool SliceReader::next(Slice& slice) {
  while (part_ < last_) {
    if (!now_.chunks) {
      now_ = kept_->slices(part_, partition_);
      in_use_.push_back(now_.chunks);
    }
    if (chunk_ == now_.chunks->size()) {
      now_.chunks = nullptr;
      ++part_;
      chunk_ = 0;
      continue;
    }
    const StoredChunk& chunk = *(*now_.chunks)[chunk_++];
    if (chunk.records(now_.partition) == 0) continue;
    slice.records = chunk.records(now_.partition);
    slice.in_memory = chunk.in_memory();
    if (!slice.in_memory) read(chunk);
    slice.bytes = slice.in_memory ? chunk.slice(now_.partition) : std::span<const std::byte>(buffer_);
    return true;
  }
  return false;
}

}  // namespace actorflow
