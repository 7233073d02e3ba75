// Brings the slices that the parts of a task read, and that other tasks hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/messages/job_mail.h"
#include "actors/jobs/slices/job_tools.h"
#include "actors/jobs/slices/kept_records.h"

namespace actorflow {

// The slices of an answer that travels compressed. Throws unavailable, naming the task that they are
// from, where they are announced with more than `most_bytes` together, and where the bytes that came do
// not become as many as are announced; takes no memory for what these bytes cannot become.
std::vector<std::byte> unpacked(const SlicesAre& answer, std::span<const std::byte> bytes,
                                std::uint64_t most_bytes, const std::string& from);

// Asks for a few slices at a time, so that what is on its way to a task is bounded, and keeps them as
// the task's own: in memory as far as they may be, else on disk. For one actor.
class InputFetcher {
 public:
  // `tools` outlive it.
  InputFetcher(JobMailRef mail, std::shared_ptr<KeptStages> kept, const JobTools& tools);

  // Whether all of it is here; else it is asked for. `holders`: the tasks that have the parts of the
  // set, in their order. Throws aborted for a stage that is not kept here.
  bool want(const SliceSet& set, std::span<const std::int32_t> holders);

  // A set that has come, or cannot come.
  struct Arrival {
    SliceSet set;
    Status status;
    std::optional<MissingPart> missing;  // if another task is to blame
    bool of_disk = false;                // the status is what a disk has answered, here or there
  };
  // Takes an answer.
  std::vector<Arrival> take(SlicesAre& answer, std::span<const std::byte> bytes);
  // What was asked of the task does not come.
  std::vector<Arrival> lose_task(int task, const Status& why);
  // Nobody waits for the set any more, or reads it: what came from other tasks is dropped.
  void release(const SliceSet& set);

 private:
  // At once, and of one answer but for a slice that is larger by itself: so much is on its way.
  static constexpr std::size_t most_requests = 4;
  static constexpr std::uint64_t most_bytes = std::uint64_t{8} << 20;

  // What one task has of a set.
  struct Stream {
    int task = 0;
    std::deque<std::uint64_t> parts;  // that are to come
    std::uint64_t next_chunk = 0;     // of the first
    StoredChunks begun;               // of the first
  };
  struct Fetch {
    std::shared_ptr<KeptRecords> kept;
    std::vector<Stream> streams;
    std::size_t open = 0;               // streams that have not ended
    std::shared_ptr<ScratchFile> file;  // of slices that went to disk
  };
  using StreamId = std::pair<SliceSet, std::size_t>;

  static std::uint64_t partition_of(const SliceSet& set) { return set.of_one_part ? 0 : set.index; }
  void ask();
  void take_into(Fetch& fetch, const StreamId& id, SlicesAre& answer, std::span<const std::byte> bytes,
                 std::vector<Arrival>& arrivals);
  void take_pieces(const SliceSet& set, Fetch& fetch, Stream& stream, SlicesAre& answer,
                   std::span<const std::byte> bytes);
  Arrival give_up(const StreamId& id, Status why, bool is_lost);
  void forget(const SliceSet& set);

  const JobMailRef mail_;
  const std::shared_ptr<KeptStages> kept_;
  const JobTools& tools_;
  std::map<SliceSet, Fetch> fetches_;
  std::deque<StreamId> to_ask_;
  std::map<std::uint64_t, StreamId> asked_;  // by request
  std::uint64_t requests_ = 0;
};

}  // namespace actorflow
