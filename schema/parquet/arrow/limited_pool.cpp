#include "schema/parquet/arrow/limited_pool.h"

namespace actorflow {

arrow::Status LimitedPool::Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) {
  ARROW_RETURN_NOT_OK(expect_room(size, 0));
  ARROW_RETURN_NOT_OK(from_.Allocate(size, alignment, out));
  count(size, 0);
  return arrow::Status::OK();
}

arrow::Status LimitedPool::Reallocate(std::int64_t old_size, std::int64_t new_size,
                                      std::int64_t alignment, std::uint8_t** memory) {
  ARROW_RETURN_NOT_OK(expect_room(new_size, old_size));
  ARROW_RETURN_NOT_OK(from_.Reallocate(old_size, new_size, alignment, memory));
  count(new_size, old_size);
  return arrow::Status::OK();
}

void LimitedPool::Free(std::uint8_t* memory, std::int64_t size, std::int64_t alignment) {
  from_.Free(memory, size, alignment);
  allocated_ -= size;
}

arrow::Status LimitedPool::expect_room(std::int64_t size, std::int64_t freed) const {
  const std::int64_t others = allocated_ - freed;
  if (size <= limit_ - others) return arrow::Status::OK();
  return arrow::Status::CapacityError("a page or its values want ", size, " bytes of memory beside ",
                                      others, " of other pages, where ", limit_, " are the limit");
}

void LimitedPool::count(std::int64_t size, std::int64_t freed) {
  allocated_ += size - freed;
  total_ += size;
  ++allocations_;
}

}  // namespace actorflow
