// What a launcher such as mpirun or srun tells a process that it starts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace actorflow {

// One process of a job of several, as yet without the addresses of the others.
struct LaunchedRank {
  std::string launcher;  // for people: the variable that names the rank
  int rank = 0;
  int size = 1;
  int parameter_servers = 0;  // the last of the ranks
  // Rank 0 listens at one of these ports of the host, the first that is free.
  std::string host;
  std::vector<std::uint16_t> ports;
  std::uint64_t job = 0;  // equal for the ranks of one start of one job
};

// The value of a variable, or null.
using Environment = std::function<const char*(const char* name)>;
Environment process_environment();

// Nothing if no launcher has started the process, or if it is the only one of its job. Throws
// invalid_argument that names the variable, its value and what to do.
std::optional<LaunchedRank> launched_rank(const Environment& environment = process_environment());

}  // namespace actorflow
