// ACTORFLOW_HOST_DEVICE marks a function for the host and, where nvcc compiles it, for the GPU, too.
#pragma once

#ifdef __CUDACC__
#define ACTORFLOW_HOST_DEVICE __host__ __device__
#else
#define ACTORFLOW_HOST_DEVICE
#endif
