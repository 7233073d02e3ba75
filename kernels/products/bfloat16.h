// bfloat16: the upper half of a float32, which CPUs with AMX, and AMD's with AVX-512 for it, multiply
// faster.
#pragma once

#include <cstdint>

#include "dataflow/graph/precision.h"
#include "kernels/core/kernel.h"
#include "kernels/products/factors.h"

namespace actorflow {

// Rounds to the nearest bfloat16, ties to even; NaN stays NaN.
void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to);

// Whether this CPU multiplies bfloat16 faster than float32, by AMX or by AMD's AVX-512, and oneDNN may
// use that. On Intel's CPUs without AMX such products are slower than in float32.
bool multiplies_bf16_fast();

// Whether to round the factors of products [m,k] [k,n] of this precision: if the CPU gains more than
// rounding costs.
bool rounds_to_bf16(Precision precision, std::int64_t m, std::int64_t k, std::int64_t n);

// Rounds the factors of a product, with count_a and count_b elements, into memory of the context's
// device, which is the CPU. That memory must outlive the returned factors.
Factors round_to_bf16(const OpContext& c, const Factors& factors, std::int64_t count_a,
                      std::int64_t count_b, BufferRef& memory);

}  // namespace actorflow
