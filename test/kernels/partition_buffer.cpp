#include "kernels/shuffle/partition_buffer.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/devices/device.h"

BOOST_AUTO_TEST_SUITE(partition_buffer)

using namespace actorflow;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

void append(PartitionBuffer& buffer, std::uint32_t partition, const std::string& record) {
  BOOST_REQUIRE(buffer.fits(partition, record.size()));
  std::byte* place = buffer.append(partition, record.size());
  if (!record.empty()) std::memcpy(place, record.data(), record.size());
}

std::string text_of(const Chunk& chunk, std::size_t partition) {
  const auto* bytes = static_cast<const char*>(chunk.bytes->data());
  return {bytes + chunk.offsets.at(partition), bytes + chunk.offsets.at(partition + 1)};
}

// A buffer, and what its chunk must contain.
struct Checked {
  Checked(std::uint32_t partitions, std::size_t capacity)
      : buffer(partitions, capacity), expected(partitions), records(partitions) {}
  void append(std::uint32_t partition, const std::string& record) {
    partition_buffer::append(buffer, partition, record);
    expected[partition] += record;
    ++records[partition];
  }
  void check() {
    const Chunk chunk = buffer.take();
    BOOST_TEST(chunk.records == records);
    BOOST_REQUIRE_EQUAL(chunk.offsets.size(), expected.size() + 1);
    BOOST_TEST(chunk.offsets.front() == 0u);
    BOOST_TEST(chunk.bytes->size_bytes() == chunk.offsets.back());
    for (std::size_t i = 0; i < expected.size(); ++i) BOOST_REQUIRE(text_of(chunk, i) == expected[i]);
    expected.assign(expected.size(), "");
    records.assign(records.size(), 0);
    BOOST_TEST(buffer.empty());
  }

  PartitionBuffer buffer;
  std::vector<std::string> expected;
  std::vector<std::uint64_t> records;
};

}  // namespace

BOOST_AUTO_TEST_CASE(records_of_any_size_come_by_partition_in_the_order_of_their_coming) {
  std::mt19937 random(1);
  Checked checked(37, mebibyte);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20'000; ++i) {
      const std::size_t size = i % 1000 == 0 ? 5000 : random() % 40;
      const auto partition = static_cast<std::uint32_t>(random() % 37);
      if (!checked.buffer.fits(partition, size)) checked.check();
      checked.append(partition, std::string(size, static_cast<char>(i)));
    }
    checked.check();
  }
}

BOOST_AUTO_TEST_CASE(records_of_one_size_come_by_partition_in_the_order_of_their_coming) {
  std::mt19937 random(2);
  for (const std::size_t size : {1, 3, 8, 12, 16, 24, 32, 33, 64, 100, 1000}) {
    Checked checked(10, mebibyte);
    std::uint32_t partition = 0;
    for (int i = 0; checked.buffer.fits(partition, size); ++i) {
      checked.append(partition, std::string(size, static_cast<char>(i)));
      partition = static_cast<std::uint32_t>(random() % 10);
    }
    checked.check();
  }
}

BOOST_AUTO_TEST_CASE(empty_partitions_records_and_buffers) {
  Checked checked(3, 1000);
  checked.check();
  checked.append(1, "");
  checked.append(1, "");
  checked.check();
  Checked one(1, 1000);
  one.append(0, "the only one");
  one.check();
}

BOOST_AUTO_TEST_CASE(the_capacity_bounds_records_and_what_is_kept_of_each_segment) {
  PartitionBuffer divided(4, 1000), undivided(1, 1000);
  std::size_t records = 0, whole = 0;
  for (; divided.fits(3, 16); ++records) append(divided, 3, std::string(16, 'x'));
  BOOST_TEST(records == 15u * 3 + 1);  // segments of 64 bytes, 16 of which say what was filled before
  for (; undivided.fits(0, 16); ++whole) append(undivided, 0, std::string(16, 'x'));
  BOOST_TEST(whole == 1000u / 16);
}

BOOST_AUTO_TEST_CASE(most_of_the_capacity_is_for_records) {
  struct Case {
    std::uint32_t partitions;
    std::size_t size, capacity = 16 * mebibyte;
  };
  std::mt19937 random(3);
  for (const auto& [partitions, size, capacity] :
       {Case{2, 100}, Case{64, 100}, Case{1000, 100}, Case{64, 9000}, Case{4096, 100, 3 * mebibyte}}) {
    PartitionBuffer buffer(partitions, capacity);
    std::size_t bytes = 0;
    for (std::uint32_t partition = 0; buffer.fits(partition, size); bytes += size) {
      buffer.append(partition, size);
      partition = static_cast<std::uint32_t>(random() % partitions);
    }
    BOOST_TEST(bytes > capacity / 4 * 3);
  }
}

BOOST_AUTO_TEST_CASE(a_record_beyond_the_capacity_makes_the_buffer_grow_for_it_alone) {
  Checked checked(2, 1000);
  const std::string large(3 * mebibyte, 'l');
  const std::size_t memory = checked.buffer.memory_bytes();
  for (int round = 0; round < 2; ++round) {
    checked.append(0, "small");
    BOOST_TEST(!checked.buffer.fits(1, large.size()));
    checked.check();
    checked.append(1, large);
    for (std::uint32_t i = 0; i < 2; ++i) BOOST_TEST(!checked.buffer.fits(i, 1));
    BOOST_TEST(checked.buffer.memory_bytes() > large.size());
    checked.check();
    BOOST_TEST(checked.buffer.memory_bytes() == memory);
  }
}

BOOST_AUTO_TEST_CASE(a_record_of_4_gibibytes_is_refused) {
  PartitionBuffer buffer(2, 1000);
  BOOST_CHECK_EXCEPTION(buffer.append(0, std::size_t{1} << 32U), Error, [](const Error& error) {
    return error.code() == Code::invalid_argument &&
           std::string(error.what()).find("4294967296 bytes") != std::string::npos;
  });
  append(buffer, 0, "another");
  BOOST_TEST(text_of(buffer.take(), 0) == "another");
}

BOOST_AUTO_TEST_CASE(the_bytes_come_from_the_allocator_that_was_given) {
  PartitionBuffer buffer(2, 1000, cpu_device().allocator());
  append(buffer, 1, "record");
  const Chunk chunk = buffer.take();
  BOOST_TEST(&chunk.bytes->owner() == &cpu_device().allocator());
  BOOST_TEST(text_of(chunk, 1) == "record");
}

BOOST_AUTO_TEST_CASE(a_full_buffer_of_one_partition_gives_its_memory_away) {
  PartitionBuffer buffer(1, 1000);
  const std::size_t memory = buffer.memory_bytes();
  const std::byte* const first = buffer.append(0, 900);
  append(buffer, 0, std::string(90, 'a'));
  const Chunk full = buffer.take();
  BOOST_TEST(full.bytes->data() == first);
  BOOST_TEST(full.offsets.back() == 990u);
  BOOST_TEST(buffer.memory_bytes() == 0u);
  append(buffer, 0, "another");
  BOOST_TEST(buffer.memory_bytes() == memory);
  const Chunk small = buffer.take();
  BOOST_TEST(buffer.memory_bytes() == memory);
  BOOST_TEST(text_of(small, 0) == "another");
  BOOST_TEST(text_of(full, 0).substr(900) == std::string(90, 'a'));
}

BOOST_AUTO_TEST_CASE(records_that_come_at_once_lie_as_if_they_came_one_by_one) {
  PartitionBuffer buffer(1, 1000);
  const std::string all(100 * 16, 'r');
  std::vector<std::size_t> counts;
  for (std::size_t left = 100; left > 0; left -= counts.back()) {
    if (!buffer.fits(0, 16)) BOOST_TEST(buffer.take().records.at(0) == counts.back());
    std::size_t count = left;
    std::byte* const to = buffer.append_some(16, count);
    std::memcpy(to, all.data(), count * 16);
    counts.push_back(count);
  }
  BOOST_TEST(counts == (std::vector<std::size_t>{62, 38}));
  append(buffer, 0, std::string(16, 'o'));
  const Chunk rest = buffer.take();
  BOOST_TEST(rest.records.at(0) == 39u);
  BOOST_TEST(text_of(rest, 0) == all.substr(0, 38 * 16) + std::string(16, 'o'));
}

BOOST_AUTO_TEST_CASE(a_large_record_of_one_partition_gives_its_memory_away_after_a_chunk_has) {
  Checked checked(1, 1000);
  checked.append(0, std::string(1000, 'f'));
  checked.check();
  checked.append(0, std::string(5000, 'l'));
  checked.check();
  checked.append(0, std::string(20, 's'));
  checked.check();
}

BOOST_AUTO_TEST_SUITE_END()
