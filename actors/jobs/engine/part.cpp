#include "actors/jobs/engine/part.h"

#include <utility>

#include "actors/probes/planted_bug.h"
#include "dataflow/values/error.h"
#include "schema/records/key.h"

namespace actorflow {
namespace {

thread_local Part* running = nullptr;

}  // namespace

Part::Part(const JobTools& tools, std::size_t index, std::set<std::uint64_t> skips,
           StageProgress& progress, std::shared_ptr<const std::atomic<bool>> cancelled)
    : tools_(tools),
      index_(index),
      skips_(std::move(skips)),
      progress_(progress),
      cancelled_(std::move(cancelled)) {}

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
  if (*cancelled_) throw Error(Code::cancelled, "another attempt of the part was faster");
}

void Part::hand_over(Chunk chunk) {
  try {
    chunks_.push_back(tools_.chunks->keep(std::move(chunk), chunk_file_));
  } catch (const Error&) {
    if (!planted(PlantedBug::lost_spill)) throw;
  }
}

// Chunks are cut at the same places on all tasks, so that their slices can be compared one by one.
PartProduct Part::take_product() {
  std::vector<std::uint64_t> sums{hash_bytes(outcome_.result)};
  for (const auto& file : outcome_.files) sums.push_back(file.checksum);
  for (const auto& chunk : chunks_)
    for (std::size_t p = 0; p < chunk->partitions(); ++p) {
      outcome_.kept_records += chunk->records(p);
      outcome_.kept_bytes += chunk->slice_bytes(p);
      sums.push_back(chunk->checksum(p));
    }
  outcome_.checksum = hash_bytes(std::as_bytes(std::span(sums)));
  return {std::move(chunks_), std::move(outcome_)};
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

}  // namespace actorflow
