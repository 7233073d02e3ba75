// Records to sort, as the sort benchmark's gensort makes them (sortbenchmark.org), and a look at sorted
// ones as its valsort has.
//
//   gensort gensort --records 1000000 --output unsorted
//   gensort gensort --records 1000000 --output unsorted --keys skewed       or equal
//   gensort valsort --input unsorted        checksum 7a27e2d0d55de for a million records
#include <cmath>
#include <iostream>

#include "actors/jobs/job.h"
#include "schema/crc32.h"

using namespace actorflow;

namespace {

using Wide = unsigned __int128;
using Row = std::array<std::uint8_t, 100>;
constexpr std::int64_t block = 10'000;  // rows that are made at a time

constexpr Wide wide(std::uint64_t high, std::uint64_t low) {
  return static_cast<Wide>(high) << 64U | low;
}

// The random number of row `n`: r = r * a + c, n + 1 times from 0 on, by squaring.
Wide random_number(std::uint64_t n) {
  Wide a = wide(0x2360ed051fc65da4, 0x4385df649fccf645),
       c = wide(0x4a696d4772617952, 0x4950202020202001), r = 0;
  for (++n; n > 0; n /= 2) {
    if (n % 2 == 1) r = r * a + c;
    c = c * a + c;
    a = a * a;
  }
  return r;
}

Row row(std::uint64_t number, Wide random) {
  constexpr const char* digits = "0123456789ABCDEF";
  Row row{};
  for (unsigned i = 0; i < 10; ++i) row[i] = static_cast<std::uint8_t>(random >> (120 - 8 * i));
  std::ranges::copy(std::array{0x00, 0x11}, row.begin() + 10);
  for (unsigned i = 0; i < 32; ++i)
    row[12 + i] = static_cast<std::uint8_t>(i < 16 ? '0' : digits[number >> (124 - 4 * i) & 15]);
  std::ranges::copy(std::array{0x88, 0x99, 0xaa, 0xbb}, row.begin() + 44);
  for (unsigned i = 0; i < 48; ++i)
    row[48 + i] =
        static_cast<std::uint8_t>(digits[static_cast<unsigned>(random >> (44 - i / 4 * 4)) & 15]);
  std::ranges::copy(std::array{0xcc, 0xdd, 0xee, 0xff}, row.begin() + 96);
  return row;
}

// Replaces the key by one of 16 million, of which the most frequent comes in every fifth row.
void skew_key(Row& row, Wide random) {
  const double share = static_cast<double>(random >> 75U) / std::exp2(53);
  const auto rank = static_cast<std::uint32_t>(std::exp2(24 * share * share));
  std::fill_n(row.begin(), 10, std::uint8_t{0});
  for (unsigned i = 0; i < 4; ++i) row[i] = static_cast<std::uint8_t>(rank >> (24 - 8 * i));
}

using MakeRow = Row (*)(std::uint64_t number, Wide random);

MakeRow rows_with(const std::string& keys) {
  if (keys == "uniform") return row;
  if (keys == "skewed")
    return [](std::uint64_t number, Wide random) {
      Row made = row(number, random);
      skew_key(made, random);
      return made;
    };
  if (keys == "equal") return [](std::uint64_t number, Wide) { return row(number, 0); };
  throw invalid_argument("--keys is '" + keys + "'; expected uniform, skewed or equal");
}

void gensort(Job& job) {
  const auto records = job.param<std::int64_t>("records", 1'000'000);
  if (records < 0)
    throw invalid_argument("--records: expected 0 or more, got " + std::to_string(records));
  const MakeRow make = rows_with(job.param("keys", "uniform"));
  std::vector<std::int64_t> begins;
  for (std::int64_t begin = 0; begin < records; begin += block) begins.push_back(begin);
  job.from(begins, begins.size() / 100 + 1)
      .flat_map([records, make](std::int64_t begin) {
        std::vector<Row> rows;
        for (std::int64_t i = begin; i < std::min(records, begin + block); ++i)
          rows.push_back(
              make(static_cast<std::uint64_t>(i), random_number(static_cast<std::uint64_t>(i))));
        return rows;
      })
      .write_records(job.param("output"));
}

struct Summary {
  std::int64_t records = 0, out_of_order = 0, duplicates = 0;
  std::uint64_t checksum = 0;
  Row first{}, last{};
};

int compare_keys(const Row& a, const Row& b) { return std::memcmp(a.data(), b.data(), 10); }

Summary joined(Summary a, const Summary& b) {
  if (a.records == 0 || b.records == 0) return a.records == 0 ? b : a;
  const int order = compare_keys(b.first, a.last);
  return {a.records + b.records,
          a.out_of_order + b.out_of_order + (order < 0),
          a.duplicates + b.duplicates + (order == 0),
          a.checksum + b.checksum,
          a.first,
          b.last};
}

void valsort(Job& job) {
  const auto summary =
      job.read_records<Row>(job.param("input"))
          .fold(
              Summary{},
              [](Summary sum, const Row& row) {
                return joined(sum, {1, 0, 0, crc32(std::as_bytes(std::span(row))), row, row});
              },
              joined);
  std::cout << "Records: " << summary.records << "\nChecksum: " << std::hex << summary.checksum
            << std::dec << "\nDuplicate keys: " << summary.duplicates << "\n";
  if (summary.out_of_order > 0)
    throw Error(Code::data_loss,
                "there are " + std::to_string(summary.out_of_order) + " unordered records");
  std::cout << "SUCCESS - all records are in order\n";
}

}  // namespace

int main(int argc, char** argv) {
  return run_jobs(argc, argv, {{"gensort", gensort}, {"valsort", valsort}});
}
