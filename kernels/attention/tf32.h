// The instructions of tensor cores for tf32. For .cu files in a build with CUDA.
#pragma once

namespace actorflow::attention {

// Rounds to the nearest number of tf32, which is a float32 with 10 bits of fraction.
__device__ inline float to_tf32(float value) {
#if __CUDA_ARCH__ >= 800
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return __uint_as_float(bits);
#else
  return value;
#endif
}

// What a thread has of factors [16, 8] and [8, 8] and of their product.
struct Tf32Left {
  float values[4];
};
struct Tf32Right {
  float values[2];
};
struct Tf32Sums {
  float values[4];
};

// Adds a product to the sums; all threads of a warp call it. REQUIRES: compute capability 8 or more,
// which has_tf32() tells.
__device__ inline void add_tf32_product(const Tf32Left& a, const Tf32Right& b, Tf32Sums& sums) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sums.values[0]), "+f"(sums.values[1]), "+f"(sums.values[2]), "+f"(sums.values[3])
      : "r"(__float_as_uint(a.values[0])), "r"(__float_as_uint(a.values[1])),
        "r"(__float_as_uint(a.values[2])), "r"(__float_as_uint(a.values[3])),
        "r"(__float_as_uint(b.values[0])), "r"(__float_as_uint(b.values[1])));
#else
  __trap();
#endif
}

}  // namespace actorflow::attention
