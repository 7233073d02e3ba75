// A stage of a job, as the engine sees it: a function that is called for each part, and what comes of
// it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/jobs/engine/chunk_store.h"

namespace actorflow {

class Part;

struct StageSpec {
  std::uint32_t id = 0;
  std::string name;  // for people: "read_text, flat_map, reduce_by_key"
  std::size_t parts = 0;
  // What there is to read in all, 0 if unknown: for the time that is left.
  std::uint64_t input_bytes = 0;
  // Called for each part, on any thread, for several parts at once.
  std::function<void(Part&)> body;
};

// A file that a part has made.
struct FileMade {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
  std::uint64_t checksum = 0;  // XXH64 of its bytes
};

// What the accepted attempt of a part has made.
struct PartOutcome {
  std::vector<StoredChunkRef> chunks;
  std::vector<std::byte> result;     // for the client
  std::uint64_t records = 0;         // that its last operator gave
  std::vector<std::int64_t> counts;  // by counter
  std::vector<FileMade> files;
};

// How far the parts that are running have come. Thread-safe.
struct StageProgress {
  std::atomic<std::uint64_t> bytes_read{0};
  std::atomic<std::uint64_t> records_read{0};
};

}  // namespace actorflow
