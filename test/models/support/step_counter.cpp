#include "test/models/support/step_counter.h"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "actors/checkpoint/checkpoint.h"
#include "actors/runtime/threaded_runtime.h"
#include "test/models/support/toy_data.h"

namespace actorflow::test {

std::shared_ptr<Runtime> runtime_on(Storage& disk) {
  return std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 2, .storage = &disk});
}

Model step_counter(Storage& disk) {
  Model model(chain({constant_layer(0)}), runtime_on(disk));
  model.compile({.loss = {{"value", [](Output p, Output) { return p; }}}, .optimizer = Sgd{1}});
  return model;
}

float weight_of(Model& model) { return model.weights().at("constant/value").values<float>()[0]; }

TrainingData examples(std::int64_t count) {
  return {Tensor::zeros(DType::float32, {count, 1}), Tensor::zeros(DType::float32, {count, 1})};
}

FitOptions with(Callbacks callbacks, int epochs) {
  return quiet({.epochs = epochs, .batch_size = 1, .callbacks = std::move(callbacks)});
}

CallbackRef made_up(std::vector<double> values) {
  return callback({.on_epoch_end = [values = std::move(values)](FitContext&, int epoch, Logs& logs) {
    logs.set("val_loss", values.at(static_cast<std::size_t>(epoch - 1)));
  }});
}

void fill(MemoryStorage& disk, bool is_full) {
  const std::scoped_lock lock(disk.mutex);
  disk.commits_left = is_full ? 0 : std::numeric_limits<int>::max();
}

CallbackRef full_in(MemoryStorage& disk, std::set<int> epochs) {
  return callback({.on_epoch_begin = [&disk, epochs = std::move(epochs)](FitContext&, int epoch) {
    fill(disk, epochs.contains(epoch));
  }});
}

std::string text_of(const MemoryStorage& disk, const std::string& path) {
  const auto& bytes = disk.files.at(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::int64_t> saved_steps(Storage& disk, const std::string& folder) {
  std::vector<std::int64_t> steps;
  for (const auto& path : list_checkpoints(disk, folder)) {
    BOOST_TEST(verify_checkpoint(disk, path).empty(), path);
    steps.push_back(read_manifest(disk, path).global_step);
  }
  return steps;
}

}  // namespace actorflow::test
