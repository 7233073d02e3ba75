// The project's only macro: a function for both the host and, when nvcc compiles it, the GPU.
#pragma once

#ifdef __CUDACC__
#define ACTORFLOW_HOST_DEVICE __host__ __device__
#else
#define ACTORFLOW_HOST_DEVICE
#endif
