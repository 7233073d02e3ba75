// The factors of a product.
#pragma once

#include <cstddef>
#include <cstdint>

namespace actorflow {

// Two matrices, or batches of them, on the host: float32, or rounded to bfloat16.
struct Factors {
  const void* a = nullptr;
  const void* b = nullptr;
  bool bf16 = false;

  const void* a_from(std::int64_t element) const { return from(a, element); }
  const void* b_from(std::int64_t element) const { return from(b, element); }

 private:
  const void* from(const void* data, std::int64_t element) const {
    return static_cast<const std::byte*>(data) + element * (bf16 ? 2 : 4);
  }
};

}  // namespace actorflow
