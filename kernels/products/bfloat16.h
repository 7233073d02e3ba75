// bfloat16: the upper half of a float32, which CPUs with AMX multiply several times as fast.
#pragma once

#include <cstdint>

#include "dataflow/graph/precision.h"
#include "kernels/core/kernel.h"
#include "kernels/products/factors.h"

namespace actorflow {

// To the nearest, ties to the even one; NaN stays NaN.
void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to);

// Has this CPU AMX, and may oneDNN use it? With AVX-512's instructions for bfloat16 alone products are
// slower than of float32.
bool multiplies_bf16_fast();

// Whether to round the factors of products [m,k] [k,n] of this precision: where the CPU gains more by it
// than rounding costs.
bool rounds_to_bf16(Precision precision, std::int64_t m, std::int64_t k, std::int64_t n);

// Rounds what a product multiplies, so many elements of a and b, into memory of the context's device,
// which is the CPU. The memory must live as long as what is returned.
Factors round_to_bf16(const OpContext& c, const Factors& factors, std::int64_t count_a,
                      std::int64_t count_b, BufferRef& memory);

}  // namespace actorflow
