// One attempt of one part of a stage: what the stage's function sees of the engine.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/jobs/engine/parts/operator_failure.h"
#include "actors/jobs/messages/stage.h"
#include "actors/jobs/slices/job_tools.h"
#include "actors/jobs/slices/kept_records.h"
#include "actors/runtime/storage.h"

namespace actorflow {

class ChunkFile;

// What an attempt has made: chunks for its task to keep, and the rest.
struct PartProduct {
  StoredChunks chunks;
  PartOutcome outcome;
  WorkDone<std::uint64_t> work;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> heaviest = {};  // as PartMade has them
  HeavyKey heavy_key = {};
};

// For the thread that runs the attempt.
class Part {
 public:
  // `skips`: the numbers of the source's records that are left out. `cancelled`: set when the attempt is
  // no longer wanted. `chunk_file`: the name of the file in the work folder for what the part hands
  // over; empty: none.
  Part(const JobTools& tools, std::size_t index, std::set<std::uint64_t> skips, StageProgress& progress,
       std::shared_ptr<const std::atomic<bool>> cancelled, std::string chunk_file = {});
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // Calls the stage's function, at most once.
  void run(const std::function<void(Part&)>& body);
  // Instead of run(): takes over what an earlier attempt has left in files. Throws data_loss, or the
  // disk's error, if the files are not whole.
  void take_over(const PartOutcome& made);
  // The part whose function this thread is running; null outside of a stage.
  static Part* current();

  std::size_t index() const { return index_; }
  // The memory that the part's tables and buffers may take together.
  std::size_t memory_bytes() const { return tools_.part_bytes; }
  std::size_t chunk_bytes() const { return tools_.chunk_bytes; }
  // The largest record: there may be a copy or two of it.
  std::size_t most_record_bytes() const { return memory_bytes() / 2; }
  // Throws invalid_argument for a record, or what it is, that is larger than most_record_bytes(): it is
  // so on any task, and ends the job.
  void expect_room_for(std::size_t bytes, const char* what = "a record");
  Storage& storage() { return tools_.storage; }
  // For chunks that are handed over.
  Allocator& allocator() { return tools_.chunks->allocator(); }

  // Passes the next record on by calling pass(), unless it is one that is left out.
  template <class Pass>
  void feed(const Pass& pass) {
    if (skips_.empty() || !skips_.contains(record_)) [[likely]]
      is_sample_ ? try_pass(pass) : pass_one(pass);
    if (++record_ % records_per_look == 0) expect_wanted();
  }
  // The same for `count` records: calls next(take(i)) for each, i from 0 on. take() is called for
  // records that are left out, too.
  template <class Take, class Next>
  void feed(std::uint64_t count, const Take& take, Next& next) {
    if (!skips_.empty() || is_sample_) {
      for (std::uint64_t i = 0; i < count; ++i) {
        auto record = take(i);
        feed([&] { next(std::move(record)); });
      }
      return;
    }
    for (std::uint64_t begin = 0; begin < count;) {
      const std::uint64_t some = std::min(count - begin, records_per_look - record_ % records_per_look);
      feed_some(begin, begin + some, take, next);
      begin += some;
      if (record_ % records_per_look == 0) expect_wanted();
    }
  }
  // The same for records that take() passes on all at once, and for which no function of a user is
  // called. False if that must not be, since some of them are left out.
  template <class Take>
  bool feed_block(std::uint64_t count, const Take& take) {
    if (!skips_.empty() || is_sample_) return false;
    take();
    record_ += count;
    expect_wanted();
    return true;
  }
  // Throws cancelled if the job was stopped, or if another attempt was faster. To be called now and then
  // by code that takes long without passing records on.
  void expect_wanted() const;
  // This attempt only reads a sample: records for which a user's function throws are ignored, since the
  // stage that reads all records will report them.
  void read_sample_only() { is_sample_ = true; }
  // The number of the next record to be fed; after an exception, of the one that was being fed.
  std::uint64_t record() const { return record_; }
  // Where the source is in its part, a block at a time: orders records with equal keys.
  void set_place(std::uint64_t place) { place_ = place; }
  std::uint64_t place() const { return place_; }
  // The number of the record that was being passed on when the function threw; none if no record was, or
  // if there is no room for what it gives, which is no bad record that may be left out.
  std::optional<std::uint64_t> bad_record() const {
    return is_bad_ && !is_too_large_ ? std::optional(record_) : std::nullopt;
  }
  // Counts what the source has read. Now and then calls expect_wanted().
  void has_read(std::uint64_t bytes, std::uint64_t records);
  // Counts bytes that were put aside and are read again to be merged.
  void has_merged(std::uint64_t bytes);

  void hand_over(Chunk chunk);
  void set_result(std::vector<std::byte> result) { outcome_.result = std::move(result); }
  void count(std::size_t counter, std::int64_t by) {
    if (counter >= outcome_.counts.size()) outcome_.counts.resize(counter + 1);
    outcome_.counts[counter] += by;
  }
  void count_records(std::uint64_t records) { outcome_.records += records; }
  void set_heavy_key(HeavyKey key) { heavy_key_ = std::move(key); }

  // A file in the making, which takes its place when the attempt is accepted.
  NewFile& create(const std::string& path);
  void made(FileMade file) { outcome_.files.push_back(std::move(file)); }

  // The file to which the part moves sorted records that do not fit into its memory.
  ScratchFile& scratch();
  // Appends to it.
  std::uint64_t put_aside(std::span<const std::byte> bytes);

  // For the engine, when the function has returned.
  PartProduct take_product();
  // Moves the part's files to their places.
  void commit();

 private:
  static constexpr std::uint64_t records_per_look = 256;

  template <class Take, class Next>
  void feed_some(std::uint64_t begin, std::uint64_t end, const Take& take, Next& next) {
    std::uint64_t i = begin;
    try {
      for (; i < end; ++i) next(take(i));
    } catch (...) {
      record_ += i - begin;
      is_bad_ = true;
      throw;
    }
    record_ += end - begin;
  }
  template <class Pass>
  void pass_one(const Pass& pass) {
    try {
      pass();
    } catch (...) {
      is_bad_ = true;
      throw;
    }
  }
  template <class Pass>
  static void try_pass(const Pass& pass) {
    try {
      pass();
    } catch (const OperatorFailure&) {
    }
  }
  using Count = WorkDone<std::uint64_t>;
  using Progress = WorkDone<std::atomic<std::uint64_t>>;
  void count_work(std::uint64_t Count::* own, std::atomic<std::uint64_t> Progress::* all,
                  std::uint64_t bytes);
  Count take_back_work();
  void forget_put_aside();
  void expect_whole(const FileMade& file);
  void commit_chunks();
  std::uint64_t checksum() const;

  const JobTools tools_;
  const std::size_t index_;
  const std::set<std::uint64_t> skips_;
  StageProgress& progress_;
  Count work_;  // of what the progress says
  const std::shared_ptr<const std::atomic<bool>> cancelled_;
  std::uint64_t record_ = 0;
  std::uint64_t place_ = 0;
  bool is_bad_ = false, is_too_large_ = false;
  bool is_sample_ = false;
  PartOutcome outcome_;
  HeavyKey heavy_key_;
  StoredChunks chunks_;
  std::vector<std::unique_ptr<NewFile>> files_;
  std::shared_ptr<ScratchFile> spilled_chunks_;
  const std::string chunk_file_;
  std::shared_ptr<ChunkFile> kept_chunks_;  // once there is one
  std::unique_ptr<ScratchFile> scratch_;
  std::uint64_t put_aside_ = 0;
};

}  // namespace actorflow
