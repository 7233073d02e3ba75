#include "actors/jobs/slices/input_fetcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "actors/probes/point.h"
#include "actors/runtime/storage.h"
#include "dataflow/values/exception_status.h"
#include "schema/formats/block_compression.h"
#include "schema/records/key.h"

namespace actorflow {
namespace {

Point fetched("slices come from another task");
Point by_lz4("slices come packed by LZ4 from another machine");
Point by_zstd("slices come packed by zstd from another machine");

// The first pieces of one part that together are no larger than a chunk, or the first one if it is.
struct JoinedPieces {
  std::size_t pieces = 0;
  std::uint64_t bytes = 0, records = 0;
};

// A few pieces lie in one block, since large ones are of huge pages, and are used again. Pieces that are
// announced too large are not added up, so that no sum is below what it is of.
JoinedPieces first_run(std::span<const SlicesAre::Piece> pieces, std::uint64_t chunk_bytes) {
  JoinedPieces run{1, pieces[0].bytes, pieces[0].records};
  for (const auto& piece : pieces.subspan(1)) {
    if (piece.part != pieces[0].part || run.bytes > chunk_bytes || piece.bytes > chunk_bytes - run.bytes)
      break;
    ++run.pieces;
    run.bytes += piece.bytes;
    run.records += piece.records;
  }
  return run;
}

[[noreturn]] void throw_unasked(const std::string& from) {
  throw Error(Code::unavailable, fmt::format("slices of {} are not those that it was asked for", from));
}

// Slices that came from another task, as a chunk of one partition.
Chunk chunk_of(std::span<const std::byte> bytes, std::uint64_t records, Allocator& allocator) {
  Chunk chunk{allocator.allocate(bytes.size()), {0, bytes.size()}, {records}};
  std::memcpy(chunk.bytes->data(), bytes.data(), bytes.size());
  return chunk;
}

std::uint64_t announced_bytes(const SlicesAre& answer, std::uint64_t most_bytes,
                              const std::string& from) {
  std::uint64_t bytes = 0;
  for (const auto& piece : answer.pieces) {
    if (piece.bytes > most_bytes - bytes)
      throw Error(Code::unavailable,
                  fmt::format("slices of {} are announced with more than {} bytes, which is all that "
                              "was asked for: its message has changed on its way, or it is no task of "
                              "this program",
                              from, most_bytes));
    bytes += piece.bytes;
  }
  return bytes;
}

// Slices for which a task has no memory now, whether it is to give or to take them, are still where they
// were: the attempt fails that wants them.
bool are_gone(const Status& why) { return why.code != Code::resource_exhausted; }

const char* name_of(Compression kind) {
  return kind == Compression::lz4 ? "LZ4" : kind == Compression::zstd ? "zstd" : "an unknown kind";
}

}  // namespace

std::vector<std::byte> unpacked(const SlicesAre& answer, std::span<const std::byte> bytes,
                                std::uint64_t most_bytes, const std::string& from) {
  const std::uint64_t size = announced_bytes(answer, most_bytes, from);
  const std::uint64_t growth = most_growth(answer.packed);
  std::vector<std::byte> slices;
  bool fits = growth > 0 && size / growth <= bytes.size();
  if (fits) {
    slices.resize(size);
    fits = decompress_block(answer.packed, bytes, slices);
  }
  if (!fits)
    throw Error(
        Code::unavailable,
        fmt::format("slices of {} have changed on their way: expected {} bytes, but the {} bytes "
                    "of {} that came do not become them",
                    from, size, bytes.size(), name_of(answer.packed)));
  (answer.packed == Compression::zstd ? by_zstd : by_lz4).hit();
  return slices;
}

InputFetcher::InputFetcher(JobMailRef mail, std::shared_ptr<KeptStages> kept, const JobTools& tools)
    : mail_(std::move(mail)), kept_(std::move(kept)), tools_(tools) {}

bool InputFetcher::want(const SliceSet& set, std::span<const std::int32_t> holders) {
  if (fetches_.contains(set)) return false;
  Fetch fetch;
  fetch.kept = kept_->find(set.stage);
  if (!fetch.kept)
    throw Error(Code::aborted, fmt::format("the records of stage run {} are not kept here", set.stage));
  const std::size_t wanted = set.of_one_part ? 1 : fetch.kept->parts();
  if (holders.size() != wanted)
    throw invalid_argument(fmt::format("stage run {}: expected who holds {} parts, got {} tasks",
                                       set.stage, wanted, holders.size()));
  std::map<int, Stream> streams;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    const std::uint64_t part = set.of_one_part ? set.index : i;
    if (fetch.kept->has(part, partition_of(set))) continue;
    if (holders[i] < 0 || holders[i] >= mail_->tasks())
      throw invalid_argument(
          fmt::format("stage run {}: expected one of {} tasks that holds part {}, "
                      "got task {}",
                      set.stage, mail_->tasks(), part, holders[i]));
    streams[holders[i]].parts.push_back(part);
  }
  for (auto& [task, stream] : streams) {
    stream.task = task;
    fetch.streams.push_back(std::move(stream));
  }
  if (fetch.streams.empty()) return true;
  fetch.open = fetch.streams.size();
  for (std::size_t i = 0; i < fetch.streams.size(); ++i) to_ask_.emplace_back(set, i);
  fetches_.emplace(set, std::move(fetch));
  ask();
  return false;
}

void InputFetcher::ask() {
  while (!to_ask_.empty() && asked_.size() < most_requests) {
    const StreamId id = to_ask_.front();
    to_ask_.pop_front();
    const auto fetch = fetches_.find(id.first);
    if (fetch == fetches_.end()) continue;
    const Stream& stream = fetch->second.streams[id.second];
    asked_.emplace(++requests_, id);
    mail_->to_slices(stream.task, {.request = requests_,
                                   .stage = id.first.stage,
                                   .partition = partition_of(id.first),
                                   .parts = {stream.parts.begin(), stream.parts.end()},
                                   .first_chunk = stream.next_chunk,
                                   .most_bytes = most_bytes});
  }
}

std::vector<InputFetcher::Arrival> InputFetcher::take(SlicesAre& answer,
                                                      std::span<const std::byte> bytes) {
  const auto asked = asked_.find(answer.request);
  if (asked == asked_.end()) return {};
  const StreamId id = asked->second;
  asked_.erase(asked);
  std::vector<Arrival> arrivals;
  if (const auto found = fetches_.find(id.first); found != fetches_.end()) {
    if (answer.status.ok())
      take_into(found->second, id, answer, bytes, arrivals);
    else
      arrivals.push_back(give_up(id, answer.status, are_gone(answer.status)));
  }
  ask();
  return arrivals;
}

void InputFetcher::take_into(Fetch& fetch, const StreamId& id, SlicesAre& answer,
                             std::span<const std::byte> bytes, std::vector<Arrival>& arrivals) {
  Stream& stream = fetch.streams[id.second];
  try {
    take_pieces(id.first, fetch, stream, answer, bytes);
  } catch (const StorageError& refused) {  // what does not fit into memory is put aside
    arrivals.push_back(give_up(id, refused.status(), false));
    arrivals.back().of_disk = true;
    return;
  } catch (...) {
    arrivals.push_back(give_up(id, current_exception_status(), false));
    return;
  }
  if (!stream.parts.empty()) return to_ask_.push_front(id);
  if (--fetch.open > 0) return;
  arrivals.push_back({.set = id.first, .status = {}, .missing = {}});
  forget(id.first);
}

void InputFetcher::take_pieces(const SliceSet& set, Fetch& fetch, Stream& stream, SlicesAre& answer,
                               std::span<const std::byte> bytes) {
  std::vector<std::byte> slices;
  if (answer.packed != Compression::none) {
    slices = unpacked(answer, bytes, most_bytes + tools_.part_bytes, mail_->name_of(stream.task));
    bytes = slices;
  }
  if (hash_bytes(bytes) != answer.checksum)
    throw Error(Code::unavailable,
                fmt::format("slices of {} have changed on their way", mail_->name_of(stream.task)));
  if (answer.pieces.empty() && answer.parts_done == 0)  // it would be asked for the same again
    throw Error(Code::unavailable, fmt::format("{} has sent nothing of the slices that it was asked for",
                                               mail_->name_of(stream.task)));
  fetched.hit();
  std::span<const SlicesAre::Piece> pieces = answer.pieces;
  for (std::uint64_t i = 0; i <= answer.parts_done && !stream.parts.empty(); ++i) {
    const std::uint64_t part = stream.parts.front();
    while (!pieces.empty() && pieces.front().part == part) {
      const JoinedPieces run = first_run(pieces, tools_.chunk_bytes);
      if (run.bytes > bytes.size()) throw_unasked(mail_->name_of(stream.task));
      stream.begun.push_back(tools_.chunks->keep(
          chunk_of(bytes.first(run.bytes), run.records, tools_.chunks->allocator()), fetch.file));
      pieces = pieces.subspan(run.pieces);
      bytes = bytes.subspan(run.bytes);
    }
    if (i == answer.parts_done) break;
    fetch.kept->keep_fetched(part, partition_of(set), std::exchange(stream.begun, {}));
    stream.parts.pop_front();
  }
  stream.next_chunk = answer.next_chunk;
  if (!pieces.empty() || !bytes.empty()) throw_unasked(mail_->name_of(stream.task));
}

InputFetcher::Arrival InputFetcher::give_up(const StreamId& id, Status why, bool is_lost) {
  const auto fetch = fetches_.find(id.first);
  const Stream& stream = fetch->second.streams[id.second];
  const bool of_disk = why.code == Code::disk_error;
  Arrival arrival{id.first, std::move(why), {}, of_disk};
  if (is_lost) arrival.missing = {id.first.stage, stream.parts.front(), stream.task};
  forget(id.first);
  return arrival;
}

// Also what is asked for: an answer that still comes must not be taken for that of a later request.
void InputFetcher::forget(const SliceSet& set) {
  fetches_.erase(set);
  std::erase_if(asked_, [&](const auto& asked) { return asked.second.first == set; });
  std::erase_if(to_ask_, [&](const StreamId& id) { return id.first == set; });
}

std::vector<InputFetcher::Arrival> InputFetcher::lose_task(int task, const Status& why) {
  std::vector<StreamId> lost;
  for (const auto& [set, fetch] : fetches_)
    for (std::size_t i = 0; i < fetch.streams.size(); ++i)
      if (fetch.streams[i].task == task && !fetch.streams[i].parts.empty()) {
        lost.emplace_back(set, i);
        break;
      }
  std::vector<Arrival> arrivals;
  for (const auto& id : lost) arrivals.push_back(give_up(id, why, are_gone(why)));
  ask();
  return arrivals;
}

void InputFetcher::release(const SliceSet& set) {
  forget(set);
  if (const auto kept = kept_->find(set.stage)) kept->drop_fetched(set);
}

}  // namespace actorflow
