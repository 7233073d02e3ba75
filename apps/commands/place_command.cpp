#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "apps/training/models/model_choice.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/train/replicate.h"
#include "dataflow/transform/place.h"

namespace actorflow {
namespace {

struct PlaceCommand {
  std::string model;
  int ps = 2, workers = 2, worker = 0;
  bool sync = false, dot = false;
  std::string ps_strategy = "round_robin";
};

std::vector<DeviceName> devices_of(const PlaceCommand& command) {
  std::vector<DeviceName> devices;
  const auto add = [&devices](const char* job, int tasks) {
    for (int i = 0; i < tasks; ++i)
      devices.push_back(
          DeviceName::parse(fmt::format("/job:{}/replica:0/task:{}/device:CPU:0", job, i)));
  };
  add("ps", command.ps);
  add("worker", command.workers);
  return devices;
}

// Of the data that the model is usually trained on.
LabelledTypes example_data(const std::string& model) {
  if (model == "transformer" || model == "char_lstm")
    return {{DType::int64, {64}}, {64}, 65, std::string(65, ' ')};
  const bool is_in_colour = model == "resnet20" || model == "fast";
  const Shape image = is_in_colour ? Shape{32, 32, 3} : Shape{28, 28, 1};
  return {.example = {DType::float32, image}, .label = {}, .classes = 10, .alphabet = {}};
}

// The graph of one worker, as `trainer` builds it.
std::unique_ptr<Graph> replica_of(const PlaceCommand& command) {
  auto graph = std::make_unique<Graph>();
  const std::string self = TaskName{"worker", command.worker}.to_string();
  graph->on(
      replica_device_setter(command.ps, "ps", self, make_ps_strategy(command.ps_strategy, command.ps)),
      [&] {
        const Variable step = global_step(*graph);
        const LabelledTypes data = example_data(command.model);
        const Classifier model =
            make_classifier(*graph, architecture_of({.name = command.model}, data), data.example,
                            {.label = data.label, .step = step, .replica = command.worker});
        minimize(*graph, model.train.loss, model.variables.trained(), step, Adam{},
                 {.replica = command.worker,
                  .replicas = command.workers,
                  .strategy = command.sync ? Strategy(Synchronous{}) : Asynchronous{}});
      });
  return graph;
}

void print_loads(const Graph& graph) {
  struct Load {
    int variables = 0;
    std::int64_t bytes = 0;
  };
  std::map<std::string, Load> loads;
  for (const auto& variable : graph.variables()) {
    Load& load = loads[variable.device()];
    ++load.variables;
    load.bytes += variable.type().bytes();
  }
  fmt::print("\n{:<24}  {:>9}  {:>12}\n", "task", "variables", "bytes");
  for (const auto& [device, load] : loads)
    fmt::print("{:<24}  {:>9}  {:>12}\n", device, load.variables, load.bytes);
}

int run(const PlaceCommand& command) {
  if (command.worker >= command.workers)
    throw UsageError(fmt::format("--worker is {}, but there are {} workers, from 0 on", command.worker,
                                 command.workers));
  check_usage([&] { make_ps_strategy(command.ps_strategy, command.ps); });
  const auto graph = replica_of(command);
  const auto devices = devices_of(command);
  GraphDef placed = graph->def();
  place(placed, devices, devices[static_cast<std::size_t>(command.ps + command.worker)]);
  if (command.dot) {
    fmt::print("{}", to_dot(placed));
    return success;
  }
  fmt::print("{}", placement_table(placed));
  print_loads(*graph);
  return success;
}

}  // namespace

void add_place_command(Command& program) {
  auto command = std::make_shared<PlaceCommand>();
  Command sub = program.command(
      "place", "Show on which tasks the nodes and variables of a worker's training step are");
  sub.option("model", command->model, "One of " + fmt::format("{}", fmt::join(model_names(), ", ")))
      .required()
      .check(one_of(model_names()));
  add_count(sub, "ps", command->ps, "Parameter servers", 1024);
  add_count(sub, "workers", command->workers, "Workers", 1024);
  sub.option("--worker", command->worker, "Whose graph is shown")
      .check(nonnegative_number())
      .show_default();
  sub.flag("--sync", command->sync, "Synchronous training");
  sub.option(both_spellings("ps-strategy"), command->ps_strategy,
             "How variables go to the parameter servers: round_robin or greedy")
      .show_default();
  sub.flag("--dot", command->dot, "A picture for Graphviz, in place of a table");
  sub.runs([command] { return run(*command); });
}

}  // namespace actorflow
