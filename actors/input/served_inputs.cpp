#include "actors/input/served_inputs.h"

#include <fmt/format.h>
#include <caf/send.hpp>

#include "actors/input/input_actor.h"
#include "actors/runtime/runtime.h"

namespace actorflow {

void ServedInputs::serve(const std::string& name, const Dataset& dataset, Runtime& runtime,
                         const TaskName& task, const caf::actor& queues) {
  const std::scoped_lock lock(mutex_);
  if (inputs_.contains(name))
    throw Error(Code::already_exists, fmt::format("the server has an input '{}' already", name));
  const auto input = spawn_input(dataset, runtime, task);
  inputs_[name] = input;
  caf::anon_send(queues, ServeInput{name, input});
}

void ServedInputs::skip_to(const std::string& name, std::int64_t position, Runtime& runtime) const {
  caf::actor input;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = inputs_.find(name);
    if (found == inputs_.end())
      throw Error(Code::not_found, fmt::format("the server has no input '{}'; call serve_input first", name));
    input = found->second;
  }
  actorflow::skip_to(input, position, runtime);
}

std::vector<caf::actor> ServedInputs::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<caf::actor> all;
  for (const auto& [name, input] : inputs_) all.push_back(input);
  return all;
}

}  // namespace actorflow
