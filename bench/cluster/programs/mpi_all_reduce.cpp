// Milliseconds of an all-reduce of float32 by MPI: a baseline of bench/cluster/collectives.cpp, built
// where CMake finds MPI.
//
//   mpirun -np 2 mpi_all_reduce BYTES ROUNDS
//
// Prints the mean time of a round at rank 0.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int elements = std::max(std::atoi(argv[1]) / 4, 1), rounds = std::atoi(argv[2]);
  // Memory of MPI's choice, as ours is of our own choice.
  const auto allocate = [elements] {
    void* memory = nullptr;
    MPI_Alloc_mem(static_cast<MPI_Aint>(elements) * static_cast<MPI_Aint>(sizeof(float)), MPI_INFO_NULL,
                  &memory);
    return static_cast<float*>(
        std::memset(memory, 0, static_cast<std::size_t>(elements) * sizeof(float)));
  };
  float* const values = allocate();
  float* const sums = allocate();
  const auto all_reduce = [&] {
    MPI_Allreduce(values, sums, elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  };
  for (int round = 0; round < 5; ++round) all_reduce();
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) all_reduce();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%.6f\n", (MPI_Wtime() - begin) / rounds * 1e3);
  MPI_Finalize();
}
