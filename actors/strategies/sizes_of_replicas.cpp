#include "actors/strategies/sizes_of_replicas.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "actors/monitored/training_end.h"
#include "actors/named/actor_ref.h"
#include "actors/named/named_actor.h"
#include "actors/runtime/runtime.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr const char* size_actor = "size of the data";

struct AskDataSize {};
struct DataSizeIs {
  std::int64_t steps = 0, examples = 0;
};

class DataSizeActor final : public NamedActor {
 public:
  explicit DataSizeActor(DataSize own) {
    on([own](const AskDataSize&) { return DataSizeIs{own.steps, own.examples}; });
  }
};

// One that is lost while it is asked may come back in time.
DataSize ask_size(Server& server, const TaskName& replica, std::int64_t timeout_ms) {
  const auto end = server.runtime()->clock().now() + std::chrono::milliseconds(timeout_ms);
  const ActorRef other = server.find(replica.to_string(), size_actor);
  while (true) {
    try {
      other.wait_until_there(1s);
      const auto size = other.ask<DataSizeIs>(AskDataSize{}, 5s).get();
      return {size.steps, size.examples};
    } catch (const Error& error) {
      throw_if_error(server.failure());
      if (server.stopping() || error.code() == Code::cancelled) throw;
      if (server.runtime()->clock().now() < end) continue;
      throw Error(
          Code::deadline_exceeded,
          fmt::format("fit: {} has not said within {} ms how many examples it has; start it, and with "
                      "AutoShardPolicy::off as {}: {}",
                      replica.to_string(), timeout_ms, server.name().to_string(), error.what()));
    }
  }
}

// The size of an epoch if training of these epochs is complete: all replicas together made its steps.
std::optional<DataSize> size_of_completed(Server& server, const std::string& folder, int epochs,
                                          DataSize own) {
  Storage& storage = server.runtime()->storage();
  if (!is_complete(storage, folder, epochs * own.steps)) return std::nullopt;
  const std::int64_t steps = completed_step(storage, folder).value();
  if (steps % epochs != 0) return std::nullopt;
  return DataSize{steps / epochs, own.examples};
}

}  // namespace

std::int64_t SizesOfReplicas::examples() const {
  std::int64_t sum = 0;
  for (const DataSize& each : sizes_) sum += each.examples;
  return sum;
}

std::size_t SizesOfReplicas::last_to_join() const {
  return static_cast<std::size_t>(std::ranges::max_element(sizes_, {}, &DataSize::steps) -
                                  sizes_.begin());
}

std::string SizesOfReplicas::describe() const {
  std::string text;
  for (const auto& [steps, examples] : sizes_)
    text += fmt::format("{}{} in {} steps", text.empty() ? "" : ", ", examples, steps);
  return text;
}

SizesOfReplicas exchange_sizes(Server& server, const std::vector<TaskName>& replicas, DataSize own,
                               const ReplicaOptions& options, int epochs) {
  if (const auto all = size_of_completed(server, options.checkpoint_folder, epochs, own))
    return SizesOfReplicas({*all});
  server.spawn(size_actor, [own] { return std::make_unique<DataSizeActor>(own); });
  std::vector<DataSize> all;
  for (const TaskName& replica : replicas)
    all.push_back(replica == server.name() ? own
                                           : ask_size(server, replica, options.connect_timeout_ms));
  SizesOfReplicas sizes(std::move(all));
  if (replicas.front() == server.name())
    spdlog::info("{}: examples of the replicas: {}; {} joins last", server.name().to_string(),
                 sizes.describe(), replicas[sizes.last_to_join()].to_string());
  return sizes;
}

}  // namespace actorflow
