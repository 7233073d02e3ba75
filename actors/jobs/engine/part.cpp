#include "actors/jobs/engine/part.h"

#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

thread_local Part* running = nullptr;

}  // namespace

Part::Part(const JobTools& tools, std::size_t index, std::set<std::uint64_t> skips,
           StageProgress& progress)
    : tools_(tools), index_(index), skips_(std::move(skips)), progress_(progress) {}

Part::~Part() { forget_put_aside(); }

Part* Part::current() { return running; }

void Part::run(const std::function<void(Part&)>& body) {
  struct Running {
    explicit Running(Part* part) { running = part; }
    ~Running() { running = nullptr; }
  } const here(this);
  body(*this);
  forget_put_aside();
}

void Part::forget_put_aside() {
  scratch_.reset();
  tools_.chunks->count_unspill(std::exchange(put_aside_, 0));
}

void Part::has_read(std::uint64_t bytes, std::uint64_t records) {
  progress_.bytes_read += bytes;
  progress_.records_read += records;
  if (*tools_.stopped) throw Error(Code::cancelled, "the job was stopped");
}

void Part::hand_over(Chunk chunk) {
  outcome_.chunks.push_back(tools_.chunks->keep(std::move(chunk), chunk_file_));
}

NewFile& Part::create(const std::string& path) {
  files_.push_back(tools_.storage.create(path));
  return *files_.back();
}

ScratchFile& Part::scratch() {
  if (!scratch_) scratch_ = tools_.chunks->scratch();
  return *scratch_;
}

std::uint64_t Part::put_aside(std::span<const std::byte> bytes) {
  tools_.chunks->count_spill(bytes.size());
  put_aside_ += bytes.size();
  return scratch().append(bytes);
}

void Part::commit() {
  for (const auto& file : files_) file->commit();
}

SliceReader SliceReader::of_partition(std::shared_ptr<const KeptRecords> dataset, std::size_t partition) {
  const std::size_t parts = dataset->parts.size();
  return {std::move(dataset), partition, 0, parts};
}

SliceReader SliceReader::of_part(std::shared_ptr<const KeptRecords> dataset, std::size_t part) {
  return {std::move(dataset), 0, part, part + 1};
}

bool SliceReader::next(Slice& slice) {
  while (part_ < last_) {
    const auto& chunks = dataset_->parts[part_];
    if (chunk_ == chunks.size()) {
      ++part_;
      chunk_ = 0;
      continue;
    }
    const StoredChunk& chunk = *chunks[chunk_++];
    if (chunk.records(partition_) == 0) continue;
    slice.records = chunk.records(partition_);
    slice.in_memory = chunk.in_memory();
    if (!slice.in_memory) {
      buffer_.resize(chunk.slice_bytes(partition_));
      chunk.read(partition_, buffer_);
    }
    slice.bytes = slice.in_memory ? chunk.slice(partition_) : std::span<const std::byte>(buffer_);
    return true;
  }
  return false;
}

}  // namespace actorflow
