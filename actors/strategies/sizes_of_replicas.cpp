#include "actors/strategies/sizes_of_replicas.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "actors/checkpoint/number_file.h"
#include "actors/monitored/storage_error.h"
#include "actors/monitored/training_end.h"
#include "actors/named/actor_ref.h"
#include "actors/named/named_actor.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/meeting.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr const char* size_actor = "size of the data";

struct AskDataSize {};
struct DataSizeIs {
  std::int64_t steps = 0, examples = 0;
  bool own = false;  // else all replicas have the same data
};

class DataSizeActor final : public NamedActor {
 public:
  explicit DataSizeActor(const DataSizeIs& size) {
    on([size](const AskDataSize&) { return size; });
  }
};

void answer_with(Server& server, const DataSizeIs& size) {
  server.spawn(size_actor, [size] { return std::make_unique<DataSizeActor>(size); });
}

std::string epoch_file(const std::string& folder) { return folder + "/steps-of-epoch"; }

// The exchange of one replica.
class Exchange {
 public:
  Exchange(Server& server, const TaskName& chief, DataSize own, const ReplicaOptions& options,
           int epochs)
      : server_(server),
        chief_(chief),
        own_(own),
        options_(options),
        epochs_(epochs),
        has_mark_(options.mark_end && !options.checkpoint_folder.empty()),
        end_mark_(storage(), options.checkpoint_folder) {}

  // Nothing while training goes on, as far as is known.
  std::optional<DataSize> size_at_end();
  // For the chief. Without the file a replica that starts after the end asks the others in vain.
  void write_steps(std::int64_t steps_of_epoch) const;
  // Nothing if the job has ended.
  std::optional<DataSize> ask(const TaskName& replica);

 private:
  std::optional<DataSizeIs> answer_of(const TaskName& replica);
  Storage& storage() const { return server_.runtime()->storage(); }

  Server& server_;
  const TaskName chief_;
  const DataSize own_;
  const ReplicaOptions& options_;
  const int epochs_;
  const bool has_mark_;
  EndMark end_mark_;
};

std::optional<DataSize> Exchange::size_at_end() {
  if (server_.stopping()) return own_;
  if (!has_mark_) return std::nullopt;
  try {
    const auto steps = read_number(storage(), epoch_file(options_.checkpoint_folder));
    if (steps && !end_mark_.why_complete(epochs_ * *steps).empty())
      return DataSize{*steps, own_.examples};
  } catch (const Error& error) {
    if (!is_of_storage(error.code())) throw;
  }
  return std::nullopt;
}

void Exchange::write_steps(std::int64_t steps_of_epoch) const {
  if (!has_mark_) return;
  try {
    write_number(storage(), epoch_file(options_.checkpoint_folder), steps_of_epoch);
  } catch (const Error& error) {
    if (!is_of_storage(error.code())) throw;
    spdlog::warn("{}: a replica that starts when training is complete will wait for the others: {}",
                 server_.name().to_string(), error.what());
  }
}

std::optional<DataSize> Exchange::ask(const TaskName& replica) {
  const auto size = answer_of(replica);
  if (!size) return std::nullopt;
  if (size->own) return DataSize{size->steps, size->examples};
  constexpr const char* name = "auto_shard_policy";
  const Status refusal = refusal_of({{name, "off"}}, server_.name(), {{name, "data"}}, replica);
  tell_refusal(server_, chief_, refusal);
  throw Error(refusal);
}

// One that is lost while it is asked may come back in time.
std::optional<DataSizeIs> Exchange::answer_of(const TaskName& replica) {
  Clock& clock = server_.runtime()->clock();
  const auto end = clock.now() + std::chrono::milliseconds(options_.connect_timeout_ms);
  const ActorRef other = server_.find(replica.to_string(), size_actor);
  while (true) {
    try {
      other.wait_until_there(1s);
      return other.ask<DataSizeIs>(AskDataSize{}, 5s).get();
    } catch (const Error& error) {
      throw_if_error(server_.failure());
      if (size_at_end()) return std::nullopt;
      if (error.code() == Code::cancelled) throw;
      if (clock.now() < end) continue;
      throw Error(
          Code::deadline_exceeded,
          fmt::format("fit: {} has not said within {} ms how many examples it has; start it, and with "
                      "AutoShardPolicy::off as {}: {}",
                      replica.to_string(), options_.connect_timeout_ms, server_.name().to_string(),
                      error.what()));
    }
  }
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

void announce_shared_data(Server& server) { answer_with(server, {}); }

SizesOfReplicas exchange_sizes(Server& server, const std::vector<TaskName>& replicas, DataSize own,
                               const ReplicaOptions& options, int epochs) {
  Exchange exchange(server, replicas.front(), own, options, epochs);
  if (const auto known = exchange.size_at_end()) return SizesOfReplicas({*known});
  answer_with(server, {own.steps, own.examples, true});
  std::vector<DataSize> all;
  for (const TaskName& replica : replicas) {
    const auto size = replica == server.name() ? std::optional(own) : exchange.ask(replica);
    if (!size) return SizesOfReplicas({exchange.size_at_end().value_or(own)});
    all.push_back(*size);
  }
  SizesOfReplicas sizes(std::move(all));
  if (replicas.front() == server.name()) {
    exchange.write_steps(sizes.steps_of_epoch());
    spdlog::info("{}: examples of the replicas: {}; {} joins last", server.name().to_string(),
                 sizes.describe(), replicas[sizes.last_to_join()].to_string());
  }
  return sizes;
}

}  // namespace actorflow
