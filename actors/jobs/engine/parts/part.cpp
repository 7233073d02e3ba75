#include "actors/jobs/engine/parts/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "actors/jobs/slices/chunk_file.h"
#include "dataflow/values/error.h"
#include "schema/checksum.h"
#include "schema/records/key.h"

namespace actorflow {
namespace {

thread_local Part* running = nullptr;

// So many partitions are named, each with its bytes: one that is heavy is so for most parts.
std::vector<std::pair<std::uint64_t, std::uint64_t>> heaviest_of(
    std::span<const std::uint64_t> bytes_of_partitions) {
  constexpr std::size_t most_named = 8;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> heaviest;
  for (std::size_t p = 0; p < bytes_of_partitions.size(); ++p)
    if (bytes_of_partitions[p] > 0) heaviest.emplace_back(p, bytes_of_partitions[p]);
  std::ranges::stable_sort(heaviest, std::greater(), [](const auto& each) { return each.second; });
  heaviest.resize(std::min(heaviest.size(), most_named));
  return heaviest;
}

}  // namespace

Part::Part(const JobTools& tools, std::size_t index, std::set<std::uint64_t> skips,
           StageProgress& progress, std::shared_ptr<const std::atomic<bool>> cancelled,
           std::string chunk_file)
    : tools_(tools),
      index_(index),
      skips_(std::move(skips)),
      progress_(progress),
      cancelled_(std::move(cancelled)),
      chunk_file_(std::move(chunk_file)) {}

Part::~Part() {
  forget_put_aside();
  take_back_work();
}

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
  count_work(&Count::bytes_read, &Progress::bytes_read, bytes);
  count_work(&Count::records_read, &Progress::records_read, records);
  expect_wanted();
}

void Part::has_merged(std::uint64_t bytes) {
  count_work(&Count::bytes_merged, &Progress::bytes_merged, bytes);
}

void Part::count_work(std::uint64_t Count::* own, std::atomic<std::uint64_t> Progress::* all,
                      std::uint64_t bytes) {
  work_.*own += bytes;
  progress_.work.*all += bytes;
}

// What an attempt has done counts with it from then on; where that came to nothing, another one does it
// again.
WorkDone<std::uint64_t> Part::take_back_work() {
  progress_.work -= work_;
  return std::exchange(work_, {});
}

void Part::expect_room_for(std::size_t bytes, const char* what) {
  if (bytes <= most_record_bytes()) return;
  is_too_large_ = true;
  throw Error(Code::invalid_argument,
              fmt::format("{} of {} bytes is larger than a part may hold: {} bytes. Give more "
                          "--memory, or fewer --tasks, which share it",
                          what, bytes, most_record_bytes()));
}

void Part::expect_wanted() const {
  if (*tools_.stopped) throw Error(Code::cancelled, "the job was stopped");
  if (*cancelled_) throw Error(Code::cancelled, "another attempt of the part was faster");
}

void Part::hand_over(Chunk chunk) {
  count_work(&Count::bytes_shuffled, &Progress::bytes_shuffled, chunk.offsets.back());
  if (chunk_file_.empty())
    return chunks_.push_back(tools_.chunks->keep(std::move(chunk), spilled_chunks_));
  if (!kept_chunks_)
    kept_chunks_ = ChunkFile::create(tools_.storage, tools_.work_folder + "/" + chunk_file_);
  const std::uint64_t at = kept_chunks_->append(bytes_of(chunk));
  chunks_.push_back(tools_.chunks->keep_written(std::move(chunk), kept_chunks_, at));
}

void Part::take_over(const PartOutcome& made) {
  for (const auto& file : made.files) expect_whole(file);
  if (!made.chunk_file.empty())
    chunks_ =
        ChunkFile::load(tools_.storage, tools_.work_folder + "/" + made.chunk_file, *tools_.chunks);
  outcome_ = made;
  if (checksum() != made.checksum)
    throw Error(Code::data_loss,
                fmt::format("'{}' has other chunks than were accepted", made.chunk_file));
}

// A file that has taken its place.
void Part::expect_whole(const FileMade& file) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  const auto opened = tools_.storage.open(file.path);
  Checksum sum;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(most_bytes, file.bytes));
  for (std::uint64_t at = 0; at < file.bytes; at += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(most_bytes, file.bytes - at));
    opened->read(at, buffer);
    sum.update(buffer);
  }
  if (opened->size_bytes() != file.bytes || sum.value() != file.checksum)
    throw Error(Code::data_loss, fmt::format("'{}' is not what was written", file.path));
}

// Chunks are cut at the same places on all tasks, so that their slices can be compared one by one.
std::uint64_t Part::checksum() const {
  std::vector<std::uint64_t> sums{hash_bytes(outcome_.result)};
  for (const auto& file : outcome_.files) sums.push_back(file.checksum);
  for (const auto& chunk : chunks_)
    for (std::size_t p = 0; p < chunk->partitions(); ++p) sums.push_back(chunk->checksum(p));
  return hash_bytes(std::as_bytes(std::span(sums)));
}

PartProduct Part::take_product() {
  outcome_.kept_records = outcome_.kept_bytes = 0;
  std::vector<std::uint64_t> bytes;  // by partition
  for (const auto& chunk : chunks_) {
    bytes.resize(std::max(bytes.size(), chunk->partitions()));
    for (std::size_t p = 0; p < chunk->partitions(); ++p) {
      outcome_.kept_records += chunk->records(p);
      outcome_.kept_bytes += chunk->slice_bytes(p);
      bytes[p] += chunk->slice_bytes(p);
    }
  }
  outcome_.checksum = checksum();
  return {std::move(chunks_), std::move(outcome_), take_back_work(), heaviest_of(bytes),
          std::move(heavy_key_)};
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
  count_work(&Count::bytes_put_aside, &Progress::bytes_put_aside, bytes.size());
  return scratch().append(bytes);
}

void Part::commit() {
  for (const auto& file : files_) file->commit();
  if (kept_chunks_) commit_chunks();
}

void Part::commit_chunks() {
  kept_chunks_->commit(chunks_);
  outcome_.chunk_file = chunk_file_;
}

}  // namespace actorflow
