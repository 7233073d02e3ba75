#include "actors/jobs/engine/job_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "actors/jobs/engine/journal/job_journal.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
// A part's table, the chunk that it fills, the one that it hands over and what it reads.
constexpr std::size_t least_part_bytes = 24 * mib;
constexpr std::size_t most_chunk_bytes = 16 * mib;

std::string memory_flag(std::size_t bytes) {
  return bytes < mib ? fmt::format("--memory of {} bytes", bytes)
                     : fmt::format("--memory of {} MiB", bytes / mib);
}

JobSizes sizes_of_new_job(std::size_t memory_bytes, std::size_t slots) {
  const std::size_t part_bytes = memory_bytes / 2 / slots;
  if (part_bytes < least_part_bytes)
    throw invalid_argument(fmt::format(
        "{} is too little for {} parts at a time: each needs {} MiB, and as much is kept for what they "
        "hand over; give at least {} MiB, or fewer --tasks",
        memory_flag(memory_bytes), slots, least_part_bytes / mib, 2 * slots * least_part_bytes / mib));
  return {slots, part_bytes, std::min(most_chunk_bytes, part_bytes / 8)};
}

}  // namespace

JobSizes sizes_of_job(std::size_t memory_bytes, std::size_t slots, const JournaledJob* begun) {
  if (!begun) return sizes_of_new_job(memory_bytes, slots);
  const auto part_bytes = static_cast<std::size_t>(begun->part_bytes);
  const std::size_t room = memory_bytes / 2 / part_bytes;
  if (room == 0)
    throw invalid_argument(
        fmt::format("{} is too little: the job has begun with parts of {} MiB, and as much is kept for "
                    "what they hand over; give at least {} MiB",
                    memory_flag(memory_bytes), part_bytes / mib, 2 * part_bytes / mib));
  return {std::min(slots, room), part_bytes, static_cast<std::size_t>(begun->chunk_bytes)};
}

}  // namespace actorflow
