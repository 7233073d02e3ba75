#include "actors/models/model_layer.h"

#include <fmt/format.h>

#include <utility>

#include "actors/layers/network_builder.h"
#include "actors/models/model_engine.h"
#include "dataflow/values/error.h"

namespace actorflow {

ModelLayer::ModelLayer(ModelEngine& engine, std::string name) : engine_(engine), name_(std::move(name)) {
  engine_.learn_inputs();
  std::string names;
  for (const NamedLayer& layer : named_layers(engine_.architecture)) {
    if (layer.name == name_) results_ = layer.results;
    names += (names.empty() ? "" : ", ") + layer.name;
  }
  if (results_.empty())
    throw Error(Code::not_found,
                fmt::format("the model has no layer '{}'; its layers are {}", name_, names));
}

SymbolicTensor ModelLayer::output() const {
  if (results_.size() > 1)
    throw Error(Code::failed_precondition,
                fmt::format("the model uses the layer '{}' {} times, so that it has no single output; "
                            "keep the tensors when you make the model",
                            name_, results_.size()));
  return results_[0];
}

std::map<std::string, Tensor> ModelLayer::weights() const {
  const std::string prefix = name_ + "/";
  std::map<std::string, Tensor> own;
  for (const auto& [name, value] : engine_.weights())
    if (name.starts_with(prefix)) own[name.substr(prefix.size())] = value;
  return own;
}

void ModelLayer::set_weights(const std::map<std::string, Tensor>& weights) {
  const std::string prefix = name_ + "/";
  auto all = engine_.weights();
  std::erase_if(all, [&](const auto& entry) { return entry.first.starts_with(prefix); });
  for (const auto& [name, value] : weights) all[prefix + name] = value;
  engine_.set_weights(all);
}

bool ModelLayer::trainable() const { return !engine_.architecture.frozen.contains(name_); }

void ModelLayer::set_trainable(bool trainable) {
  if (trainable == this->trainable()) return;
  engine_.expect_no_fit("set_trainable");
  const auto rate = engine_.own_rate();
  engine_.rebuild_later();
  engine_.wanted_rate = rate;
  if (trainable)
    engine_.architecture.frozen.erase(name_);
  else
    engine_.architecture.frozen.insert(name_);
}

}  // namespace actorflow
