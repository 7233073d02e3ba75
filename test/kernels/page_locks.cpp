#include "kernels/devices/page_locks.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <thread>
#include <vector>

#include "kernels/devices/device.h"

namespace actorflow {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

class FakeLocker final : public PageLocker {
 public:
  bool lock(void* data, std::size_t size_bytes) noexcept override {
    ++attempts;
    if (refuses) return false;
    BOOST_TEST(locked.emplace(data, size_bytes).second);
    return true;
  }
  void unlock(void* data) noexcept override { BOOST_TEST(locked.erase(data) == 1U); }

  bool refuses = false;
  int attempts = 0;
  std::map<void*, std::size_t> locked;
};

struct LockableBlocks {
  bool copy(const BufferRef& buffer) {
    return memory.is_locked_for_copy(buffer->data(), buffer->size_bytes(), locker);
  }

  FakeLocker locker;
  LockableMemory memory{host_memory(), 16 * mebibyte};
  Pool pool{memory};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(page_locks, LockableBlocks)

BOOST_AUTO_TEST_CASE(a_block_is_locked_before_its_second_copy) {
  const BufferRef block = pool.allocate(6 * mebibyte);
  BOOST_TEST(!copy(block));
  BOOST_TEST(locker.attempts == 0);
  BOOST_TEST(copy(block));
  BOOST_TEST(copy(block));
  BOOST_TEST(locker.attempts == 1);
  BOOST_TEST(locker.locked.at(block->data()) == block->size_bytes());
}

BOOST_AUTO_TEST_CASE(a_block_stays_locked_in_the_pool) {
  for (int i = 0; i < 5; ++i) BOOST_TEST(copy(pool.allocate(6 * mebibyte)) == (i > 0));
  BOOST_TEST(locker.attempts == 1);
}

BOOST_AUTO_TEST_CASE(memory_is_unlocked_before_it_goes_back) {
  BufferRef block = pool.allocate(6 * mebibyte);
  copy(block);
  copy(block);
  block = {};
  BOOST_TEST(locker.locked.size() == 1U);
  pool.trim();
  BOOST_TEST(locker.locked.empty());
  // Another block at the same place is not yet known.
  BOOST_TEST(!copy(pool.allocate(6 * mebibyte)));
}

BOOST_AUTO_TEST_CASE(small_blocks_are_never_locked) {
  const BufferRef block = pool.allocate(mebibyte);
  for (int i = 0; i < 10; ++i) BOOST_TEST(!copy(block));
  BOOST_TEST(locker.attempts == 0);
}

BOOST_AUTO_TEST_CASE(what_is_refused_is_tried_ever_more_seldom) {
  locker.refuses = true;
  const BufferRef block = pool.allocate(6 * mebibyte);
  for (int i = 0; i < 1000; ++i) BOOST_TEST(!copy(block));
  BOOST_TEST(locker.attempts == 9);  // before the copies 2, 4, ... 512
  locker.refuses = false;
  for (int i = 1000; i < 1023; ++i) BOOST_TEST(!copy(block));
  BOOST_TEST(copy(block));
}

BOOST_AUTO_TEST_CASE(no_more_is_locked_than_the_limit) {
  BufferRef first = pool.allocate(12 * mebibyte);
  const BufferRef second = pool.allocate(6 * mebibyte);
  for (const BufferRef& block : {first, second}) copy(block);
  BOOST_TEST(copy(first));
  for (int i = 0; i < 2; ++i) BOOST_TEST(!copy(second));
  first = {};
  pool.trim();
  BOOST_TEST(copy(second));  // its fourth copy
}

BOOST_AUTO_TEST_CASE(only_blocks_of_the_cpu_s_pool_are_locked) {
  const Tensor of_heap = Tensor::allocate(DType::uint8, {6 << 20}),
               of_other_pool = Tensor::allocate(DType::uint8, {6 << 20}, pool);
  for (int i = 0; i < 3; ++i)
    for (const Tensor& tensor : {of_heap, of_other_pool, Tensor()})
      BOOST_TEST(!is_locked_for_copy(tensor, locker));
  BOOST_TEST(locker.attempts == 0);
}

BOOST_AUTO_TEST_CASE(threads_lock_a_block_once) {
  std::vector<BufferRef> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(pool.allocate(2 * mebibyte));
  const auto work = [&] {
    for (int i = 0; i < 1000; ++i)
      for (const BufferRef& block : blocks) copy(block);
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  BOOST_TEST(locker.locked.size() == 4U);
  BOOST_TEST(locker.attempts == 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace actorflow
