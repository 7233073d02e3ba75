#include "schema/environment/launched_rank.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <span>
#include <string_view>

#include "dataflow/values/error.h"
#include "schema/checksum.h"
#include "schema/environment/host_list.h"

namespace actorflow {
namespace {

constexpr int most_ranks = 65'536;
// Below the ports that the system gives to those who ask for any.
constexpr int first_port = 20'000, last_port = 32'000;
constexpr int ports_to_try = 4;

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  // "" if it is not set.
  std::string text(const char* name) const {
    const char* value = environment_(name);
    return value ? value : "";
  }
  bool has(const char* name) const { return !text(name).empty(); }
  // Throws invalid_argument unless it is a number from `least` to `most`.
  int number(const char* name, int least, int most) const {
    const std::string value = text(name);
    int number = 0;
    const char* const end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end && number >= least && number <= most)
      return number;
    throw invalid_argument("the environment variable " + std::string(name) + " is '" + value +
                           "', but expected is a number from " + std::to_string(least) + " to " +
                           std::to_string(most) + "; unset it unless a launcher has to set it");
  }

 private:
  const Environment& environment_;
};

// The variables in which a kind of launcher says what it has started.
struct Launcher {
  const char* rank;
  const char* size;
  const char* local_size;             // ranks on this machine; or null
  std::vector<const char*> identity;  // what sets two jobs, or two starts of one, apart
};

const std::vector<Launcher>& launchers() {
  static const std::vector<Launcher> all = {
      {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}},
      {"OMPI_COMM_WORLD_RANK",
       "OMPI_COMM_WORLD_SIZE",
       "OMPI_COMM_WORLD_LOCAL_SIZE",
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"}},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", {"PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"}},
      {"SLURM_PROCID",
       "SLURM_STEP_NUM_TASKS",
       nullptr,
       {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"}},
  };
  return all;
}

// The launcher whose variables are there. A batch script of Slurm has a rank, but no step.
const Launcher* launcher_of(const Variables& variables) {
  for (const auto& launcher : launchers())
    if (variables.has(launcher.rank) && variables.has(launcher.size)) return &launcher;
  return nullptr;
}

// Whether all ranks are on this machine, as far as that is said.
bool is_one_machine(const Variables& variables, const Launcher& launcher, int size) {
  if (launcher.local_size && variables.has(launcher.local_size))
    return variables.number(launcher.local_size, 1, most_ranks) == size;
  return variables.text("SLURM_STEP_NUM_NODES") == "1";
}

std::string host_of_rank_0(const Variables& variables, const Launcher& launcher, int size) {
  if (variables.has("MASTER_ADDR")) return variables.text("MASTER_ADDR");
  if (is_one_machine(variables, launcher, size)) return "127.0.0.1";
  if (variables.has("SLURM_STEP_NODELIST")) return first_host(variables.text("SLURM_STEP_NODELIST"));
  throw invalid_argument(
      std::string(launcher.rank) + " and " + launcher.size +
      " say that this is a rank of several, but not on which machine rank 0 is; set MASTER_ADDR and "
      "MASTER_PORT to its address for all of them, such as mpirun -x MASTER_ADDR=host1 -x "
      "MASTER_PORT=29500");
}

// MPICH names its jobs by nothing, but on one machine all ranks have the same parent.
std::uint64_t identity_of(const Variables& variables, const Launcher& launcher) {
  std::string names;
  for (const char* name : launcher.identity) names += variables.text(name) + "/";
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT"}) names += variables.text(name) + "/";
  if (names.find_first_not_of('/') == std::string::npos) names = std::to_string(getppid());
  const std::string text = std::to_string(getuid()) + "/" + launcher.rank + "/" + names;
  return checksum(std::as_bytes(std::span(text)));
}

// torchrun itself listens at MASTER_PORT, for programs of its own.
std::vector<std::uint16_t> ports_of(const Variables& variables, std::uint64_t job) {
  if (variables.has("MASTER_PORT") && !variables.has("TORCHELASTIC_RUN_ID"))
    return {static_cast<std::uint16_t>(variables.number("MASTER_PORT", 1, 65'535))};
  std::vector<std::uint16_t> ports;
  for (int i = 0; i < ports_to_try; ++i)
    ports.push_back(static_cast<std::uint16_t>(
        first_port + (job + static_cast<std::uint64_t>(i) * 3'001) % (last_port - first_port)));
  return ports;
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> const char* { return std::getenv(name); };
}

std::optional<LaunchedRank> launched_rank(const Environment& environment) {
  const Variables variables(environment);
  const Launcher* launcher = launcher_of(variables);
  if (!launcher) return std::nullopt;
  LaunchedRank self;
  self.launcher = launcher->rank;
  self.size = variables.number(launcher->size, 1, most_ranks);
  self.rank = variables.number(launcher->rank, 0, self.size - 1);
  if (self.size == 1) return std::nullopt;
  if (variables.has("ACTORFLOW_PS"))
    self.parameter_servers = variables.number("ACTORFLOW_PS", 0, self.size - 1);
  self.host = host_of_rank_0(variables, *launcher, self.size);
  self.job = identity_of(variables, *launcher);
  self.ports = ports_of(variables, self.job);
  return self;
}

}  // namespace actorflow
