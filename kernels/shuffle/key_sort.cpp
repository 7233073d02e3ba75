#include "kernels/shuffle/key_sort.h"

#include <algorithm>

#include "kernels/shuffle/copy_record.h"

namespace actorflow {
namespace {

// Records are fetched from memory so many entries before they are copied.
constexpr std::size_t ahead = 16;
constexpr std::size_t cache_line = 64;

void prefetch(const std::byte* record, std::size_t bytes) {
  for (std::size_t line = 0; line < bytes; line += cache_line) __builtin_prefetch(record + line);
  __builtin_prefetch(record + bytes - 1);
}

template <class Size>
void copy_in_order(std::span<const SortEntry> entries, const std::byte* records, Size size,
                   std::byte* out) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    prefetch(records + entries[std::min(i + ahead, entries.size() - 1)].index * size, size);
    detail::copy_record(out + i * size, records + entries[i].index * size, size);
  }
}

}  // namespace

void gather_records(std::span<const SortEntry> entries, std::span<const std::byte> records,
                    std::size_t record_bytes, std::byte* out) {
  if (record_bytes == 0) return;
  detail::with_constant_size(record_bytes,
                             [&](auto size) { copy_in_order(entries, records.data(), size, out); });
}

void gather_records(std::span<const SortEntry> entries, std::span<const std::byte> records,
                    std::span<const std::uint64_t> offsets, std::byte* out) {
  const auto record = [&](const SortEntry& entry) {
    return records.subspan(offsets[entry.index], offsets[entry.index + 1] - offsets[entry.index]);
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    __builtin_prefetch(&offsets[entries[std::min(i + 2 * ahead, entries.size() - 1)].index]);
    const auto later = record(entries[std::min(i + ahead, entries.size() - 1)]),
               now = record(entries[i]);
    if (!later.empty()) prefetch(later.data(), std::min(later.size(), 4 * cache_line));
    detail::copy_record(out, now.data(), now.size());
    out += now.size();
  }
}

}  // namespace actorflow
