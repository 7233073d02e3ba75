#include "kernels/devices/pool.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/devices/device.h"
#include "kernels/devices/memory_holders.h"

BOOST_AUTO_TEST_SUITE(pool)

using namespace actorflow;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

// The machine's memory as far as `limit` goes, and a count of what has been taken.
class LimitedMemory final : public MemorySource {
 public:
  explicit LimitedMemory(std::size_t limit) : limit_(limit) {}
  void* take(std::size_t size_bytes) override {
    if (taken + size_bytes > limit_) return nullptr;
    taken += size_bytes;
    return host_memory().take(size_bytes);
  }
  void give_back(void* data, std::size_t size_bytes) noexcept override {
    taken -= size_bytes;
    host_memory().give_back(data, size_bytes);
  }
  bool reclaim() noexcept override { return holders.give_back_one(); }
  std::size_t total_bytes() const override { return limit_; }
  MemorySpace space() const override { return MemorySpace::host; }
  std::string name() const override { return "TEST:0"; }

  std::atomic<std::size_t> taken{0};
  MemoryHolders holders;

 private:
  std::size_t limit_;
};

// A buffer that its holder can do without.
class OptionalBuffer final : public MemoryHolder {
 public:
  explicit OptionalBuffer(BufferRef buffer) : buffer_(std::move(buffer)) {}
  bool give_back() noexcept override { return std::exchange(buffer_, {}) ? true : false; }
  bool holds() const { return static_cast<bool>(buffer_); }

 private:
  BufferRef buffer_;
};

bool is_aligned(const void* data, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(blocks_are_aligned_and_large_enough_for_every_size) {
  Pool pool(host_memory());
  for (std::size_t size : {0, 1, 63, 64, 65, 256, 257, 320, 321, 1000, 4097, 100'000, 1 << 20})
    for (std::size_t around : {size, size + 1}) {
      const BufferRef buffer = pool.allocate(around);
      BOOST_TEST(is_aligned(buffer->data(), buffer_alignment));
      BOOST_TEST(buffer->size_bytes() >= around);
      BOOST_TEST(buffer->size_bytes() <= std::max<std::size_t>(around + around / 4, around + 64));
      std::memset(buffer->data(), 1, around);
    }
}

BOOST_AUTO_TEST_CASE(blocks_of_2_mebibytes_and_more_are_aligned_to_huge_pages) {
  Pool pool(host_memory());
  for (std::size_t size : {2 * mebibyte, 2 * mebibyte + 1, 5 * mebibyte}) {
    const BufferRef buffer = pool.allocate(size);
    BOOST_TEST(is_aligned(buffer->data(), 2 * mebibyte));
    std::memset(buffer->data(), 1, buffer->size_bytes());
  }
}

BOOST_AUTO_TEST_CASE(a_freed_block_serves_the_next_buffer_of_its_class) {
  Pool pool(host_memory());
  BufferRef first = pool.allocate(1000);
  const void* data = first->data();
  first = {};
  const BufferRef second = pool.allocate(990);
  BOOST_TEST(second->data() == data);
  BOOST_TEST(pool.statistics().hits == 1U);
}

BOOST_AUTO_TEST_CASE(statistics_count_bytes_in_use_and_cached) {
  Pool pool(host_memory());
  BufferRef a = pool.allocate(1024);
  const BufferRef b = pool.allocate(64);
  BOOST_TEST(pool.statistics().bytes_in_use == 1088U);
  BOOST_TEST(pool.statistics().buffers_in_use == 2U);
  a = {};
  const PoolStatistics after = pool.statistics();
  BOOST_TEST(after.bytes_in_use == 64U);
  BOOST_TEST(after.bytes_cached == 1024U);
  BOOST_TEST(after.allocations == 2U);
  BOOST_TEST(after.hits == 0U);
}

BOOST_AUTO_TEST_CASE(the_cache_stays_below_its_limit) {
  LimitedMemory memory(100 * mebibyte);
  Pool pool(memory, 4096);
  std::vector<BufferRef> buffers;
  for (int i = 0; i < 5; ++i) buffers.push_back(pool.allocate(1024));
  buffers.clear();
  BOOST_TEST(pool.statistics().bytes_cached <= 4096U);
  BOOST_TEST(pool.statistics().bytes_cached == memory.taken.load());
  BOOST_TEST(pool.statistics().bytes_cached > 0U);
}

BOOST_AUTO_TEST_CASE(what_is_over_the_limit_goes_and_a_sixteenth_more) {
  LimitedMemory memory(100 * mebibyte);
  constexpr std::size_t limit = 64 * 1024, size = 1024;
  Pool pool(memory, limit);
  std::vector<BufferRef> buffers;
  for (std::size_t i = 0; i < limit / size; ++i) buffers.push_back(pool.allocate(size));
  BufferRef one_more = pool.allocate(size);
  buffers.clear();
  BOOST_TEST(pool.statistics().bytes_cached == limit);
  one_more = {};
  BOOST_TEST(pool.statistics().bytes_cached == limit - limit / 16);
  BOOST_TEST(memory.taken.load() == limit - limit / 16);
}

// A, B, A again, then C, which makes it too much: B goes, and nothing of A.
BOOST_AUTO_TEST_CASE(sizes_that_were_not_used_for_the_longest_time_go_first) {
  Pool pool(host_memory(), 64 * 1024);
  const auto use = [&](std::size_t size, int count) {
    std::vector<BufferRef> held;
    for (int i = 0; i < count; ++i) held.push_back(pool.allocate(size));
  };
  const auto hits_of = [&](std::size_t size, int count) {
    const auto before = pool.statistics().hits;
    use(size, count);
    return pool.statistics().hits - before;
  };
  use(1024, 20);
  use(2048, 10);
  use(1024, 1);
  use(4096, 8);
  BOOST_TEST(hits_of(1024, 20) == 20U);
  BOOST_TEST(hits_of(4096, 8) == 8U);
  const auto of_b = hits_of(2048, 10);
  BOOST_TEST(of_b > 0U);
  BOOST_TEST(of_b < 10U);
}

BOOST_AUTO_TEST_CASE(a_block_that_exceeds_the_cache_is_given_back_at_once) {
  LimitedMemory memory(100 * mebibyte);
  Pool pool(memory, 4096);
  pool.allocate(5000);
  BOOST_TEST(memory.taken.load() == 0U);
}

BOOST_AUTO_TEST_CASE(out_of_memory_gives_up_the_cache_before_it_fails) {
  LimitedMemory memory(4096);
  Pool pool(memory);
  pool.allocate(4096);
  BOOST_TEST(pool.statistics().bytes_cached == 4096U);
  const BufferRef small = pool.allocate(1024);
  BOOST_TEST(small->size_bytes() == 1024U);
  BOOST_TEST(pool.statistics().bytes_cached == 0U);
}

BOOST_AUTO_TEST_CASE(out_of_memory_takes_what_others_can_do_without_before_it_fails) {
  LimitedMemory memory(4096);
  Pool pool(memory);
  OptionalBuffer first(pool.allocate(1024)), second(pool.allocate(1024)), third(pool.allocate(1024));
  for (OptionalBuffer* holder : {&first, &second, &third}) memory.holders.add(*holder);
  const BufferRef needed = pool.allocate(1024);
  BOOST_TEST((first.holds() && second.holds() && third.holds()));  // there was enough
  memory.holders.remove(first);
  const BufferRef more = pool.allocate(1024);
  BOOST_TEST((first.holds() && !second.holds() && third.holds()));
  const auto lacks_memory = [](const Error& error) { return error.code() == Code::resource_exhausted; };
  BOOST_CHECK_EXCEPTION(pool.allocate(2048), Error, lacks_memory);
  BOOST_TEST((first.holds() && !third.holds()));
  BOOST_TEST(!memory.holders.give_back_one());
}

BOOST_AUTO_TEST_CASE(more_than_all_memory_is_refused_and_nobody_loses_what_he_has) {
  LimitedMemory memory(4096);
  Pool pool(memory);
  OptionalBuffer optional(pool.allocate(1024));
  memory.holders.add(optional);
  pool.allocate(2048);
  BOOST_CHECK_EXCEPTION(pool.allocate(4097), Error,
                        [](const Error& error) { return error.code() == Code::resource_exhausted; });
  BOOST_TEST(optional.holds());
  BOOST_TEST(pool.statistics().bytes_cached == 2048U);
}

// Threads that lack memory, and holders that come and go meanwhile.
BOOST_AUTO_TEST_CASE(a_holder_that_is_removed_is_asked_no_more) {
  constexpr int rounds = 2000;
  LimitedMemory memory(100 * mebibyte);
  Pool pool(memory);
  std::atomic<bool> done{false};
  std::vector<std::thread> asking;
  for (int i = 0; i < 2; ++i)
    asking.emplace_back([&] {
      while (!done) memory.holders.give_back_one();
    });
  for (int i = 0; i < rounds; ++i) {
    OptionalBuffer holder(pool.allocate(1024));
    memory.holders.add(holder);
    memory.holders.remove(holder);
  }
  done = true;
  for (auto& thread : asking) thread.join();
  BOOST_TEST(pool.statistics().bytes_in_use == 0U);
}

BOOST_AUTO_TEST_CASE(out_of_memory_names_the_size_and_who_holds_the_rest) {
  LimitedMemory memory(4096);
  Pool pool(memory);
  const BufferRef a = pool.allocate(1024), b = pool.allocate(1024);
  BOOST_CHECK_EXCEPTION(pool.allocate(3000), Error, [](const Error& error) {
    const std::string text = error.what();
    BOOST_TEST_INFO(text);
    return error.code() == Code::resource_exhausted && text.find("TEST:0") != std::string::npos &&
           text.find("3000 bytes") != std::string::npos &&
           text.find("2 buffers of 1024 bytes") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(an_absurd_size_is_refused) {
  Pool pool(host_memory());
  for (std::size_t size : {SIZE_MAX, SIZE_MAX / 2, std::size_t{1} << 60U})
    BOOST_CHECK_EXCEPTION(pool.allocate(size), Error,
                          [](const Error& error) { return error.code() == Code::resource_exhausted; });
}

BOOST_AUTO_TEST_CASE(a_pool_gives_everything_back_when_it_is_destroyed) {
  LimitedMemory memory(100 * mebibyte);
  {
    Pool pool(memory);
    for (std::size_t size : {10, 1000, 100'000}) pool.allocate(size);
    BOOST_TEST(memory.taken.load() > 0U);
  }
  BOOST_TEST(memory.taken.load() == 0U);
}

BOOST_AUTO_TEST_CASE(threads_never_share_a_block) {
  LimitedMemory memory(100 * mebibyte);
  Pool pool(memory, 64 * 1024);  // small, so that the cache is trimmed again and again
  std::atomic<int> overwritten{0};
  const auto work = [&](unsigned char mark) {
    std::vector<BufferRef> held;
    for (std::size_t i = 0; i < 5000; ++i) {
      held.push_back(pool.allocate(64 + i * 97 % 8000));
      std::memset(held.back()->data(), mark, held.back()->size_bytes());
      if (held.size() < 8) continue;
      for (const auto& buffer : held)
        for (std::size_t at : {std::size_t{0}, buffer->size_bytes() - 1})
          if (static_cast<const unsigned char*>(buffer->data())[at] != mark) ++overwritten;
      held.clear();
    }
  };
  std::thread a(work, 1), b(work, 2);
  a.join();
  b.join();
  BOOST_TEST(overwritten.load() == 0);
  BOOST_TEST(pool.statistics().buffers_in_use == 0U);
  BOOST_TEST(pool.statistics().bytes_cached == memory.taken.load());
}

BOOST_AUTO_TEST_CASE(tensors_of_the_cpu_device_come_from_its_pool) {
  const Tensor tensor = Tensor::allocate(DType::float32, {1024, 1024}, cpu_device().allocator());
  BOOST_TEST(is_aligned(tensor.data(), 2 * mebibyte));
  BOOST_TEST(cpu_device().to_device(tensor).data() == tensor.data());
}

BOOST_AUTO_TEST_SUITE_END()
