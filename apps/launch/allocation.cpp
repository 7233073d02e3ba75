#include "apps/launch/allocation.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include "dataflow/values/error.h"
#include "schema/environment/host_list.h"

namespace actorflow {
namespace {

constexpr std::size_t most_tasks = 100'000;

// Those that would divide a step's tasks, processors, memory or GPUs, choose its machines, or change
// what it prints.
constexpr std::string_view requests_to_srun =
    " SLURM_CONSTRAINT SLURM_CORE_SPEC SLURM_CPUS_PER_GPU SLURM_CPUS_PER_TASK SLURM_CPU_BIND "
    "SLURM_DISTRIBUTION SLURM_DIST_PLANESIZE SLURM_EXACT SLURM_EXCLUSIVE SLURM_GPUS "
    "SLURM_GPUS_PER_NODE SLURM_GPUS_PER_SOCKET SLURM_GPUS_PER_TASK SLURM_GPU_BIND SLURM_GRES "
    "SLURM_GRES_FLAGS SLURM_HINT SLURM_HOSTFILE SLURM_LABELIO SLURM_MEM_BIND SLURM_MEM_PER_CPU "
    "SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE SLURM_NPROCS SLURM_NTASKS SLURM_NTASKS_PER_CORE "
    "SLURM_NTASKS_PER_GPU SLURM_NTASKS_PER_NODE SLURM_NTASKS_PER_SOCKET SLURM_NTASKS_PER_TRES "
    "SLURM_OVERCOMMIT SLURM_STDERRMODE SLURM_STDINMODE SLURM_STDOUTMODE SLURM_STEP_GRES "
    "SLURM_THREADS_PER_CORE SLURM_THREAD_SPEC SLURM_TRES_PER_TASK SRUN_CPUS_PER_TASK ";

[[noreturn]] void complain(const char* variable, std::string_view text, std::size_t hosts) {
  throw invalid_argument(fmt::format(
      "the environment variable {} is '{}', but expected is a number for each of {} machines, such as "
      "2(x3),1; name the hosts with -H",
      variable, text, hosts));
}

// Cuts a number off the front; 0 if there is none.
std::size_t take_number(std::string_view& text) {
  std::size_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return parsed.ec == std::errc() ? number : 0;
}

bool take(std::string_view& text, std::string_view part) {
  if (!text.starts_with(part)) return false;
  text.remove_prefix(part.size());
  return true;
}

// The slots of each host: "2(x3),1" are those of four.
std::vector<int> slots_of(const char* variable, std::string_view text, std::size_t hosts) {
  std::vector<int> slots;
  std::string_view rest = text;
  do {
    const std::size_t tasks = take_number(rest);
    const bool repeats = take(rest, "(x");
    const std::size_t times = repeats ? take_number(rest) : 1;
    if (repeats && !take(rest, ")")) complain(variable, text, hosts);
    if (tasks == 0 || tasks > most_tasks || times == 0 || times > hosts - slots.size())
      complain(variable, text, hosts);
    slots.insert(slots.end(), times, static_cast<int>(tasks));
  } while (take(rest, ","));
  if (!rest.empty() || slots.size() != hosts) complain(variable, text, hosts);
  return slots;
}

}  // namespace

std::vector<LaunchHost> allocated_hosts(const Environment& environment) {
  const auto text = [&environment](const char* name) {
    const char* value = environment(name);
    return std::string(value ? value : "");
  };
  const std::string list = text("SLURM_JOB_NODELIST"), ranks = text("SLURM_STEP_NUM_TASKS");
  if (list.empty() || (!ranks.empty() && ranks != "1")) return {};
  const std::vector<std::string> names = all_hosts(list);
  // A step, such as that of an interactive shell, has tasks of its own.
  const char* variable = ranks.empty() ? "SLURM_TASKS_PER_NODE" : "SLURM_JOB_CPUS_PER_NODE";
  const std::vector<int> slots = slots_of(variable, text(variable), names.size());
  std::vector<LaunchHost> hosts;
  for (std::size_t i = 0; i < names.size(); ++i)
    hosts.push_back({.name = names[i], .user = "", .slots = slots[i], .is_allocated = true});
  return hosts;
}

bool is_request_to_srun(std::string_view assignment) {
  const std::string name(assignment.substr(0, assignment.find('=')));
  return requests_to_srun.find(" " + name + " ") != requests_to_srun.npos;
}

}  // namespace actorflow
