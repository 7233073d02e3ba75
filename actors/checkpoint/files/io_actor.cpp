#include "actors/checkpoint/files/io_actor.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace actorflow {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

Tensor text_tensor(const std::vector<std::byte>& bytes) {
  return Tensor::scalar(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// What is to be read: the values of the variables and their slots.
std::vector<CheckpointIo::Wanted> wanted_of(const Manifest& manifest,
                                            const std::vector<VariableInCheckpoint>& variables) {
  std::map<std::string, std::set<std::string>, std::less<>> slots;
  for (const auto& entry : manifest.tensors)
    if (!entry.variable.empty()) slots[entry.variable].insert(entry.name);
  std::vector<CheckpointIo::Wanted> wanted;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto& variable = variables[i];
    wanted.push_back({i, "", {variable.name, variable.first_row, variable.rows}});
    for (const auto& slot : slots[variable.name])
      wanted.push_back({i,
                        slot.substr(std::min(slot.size(), variable.name.size() + 1)),
                        {slot, variable.first_row, variable.rows}});
  }
  return wanted;
}

// Puts a slot, "<optimizer>/<slot>", where the optimizer expects it.
void put_slot(const OptimizerLibrary& optimizers, LoadedVariable& variable, std::string_view slot,
              Tensor tensor) {
  const auto slash = slot.find('/');
  variable.optimizer = slot.substr(0, slash);
  const auto names = optimizers.at(variable.optimizer).slots();
  variable.state.slots.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (slash != slot.npos && names[i] == slot.substr(slash + 1))
      variable.state.slots[i] = std::move(tensor);
}

void check_slots(const LoadedVariable& variable) {
  for (const auto& slot : variable.state.slots)
    if (!slot.valid())
      throw Error(Code::failed_precondition,
                  fmt::format("the checkpoint lacks slots of {} for variable '{}'", variable.optimizer,
                              variable.variable));
}

}  // namespace

caf::behavior CheckpointIo::behavior() {
  self_->introduce("checkpoint-io", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](SaveTensors& job) { take(std::move(job)); },
      [this](LoadTensors& job) { take(std::move(job)); }, [this](Tick) { advance(); });
}

// A job that has been taken already would never be gone on with.
void CheckpointIo::refuse(const ReplyTo& asker, const Status& why) {
  asker.lane ? fail(asker, why) : self_->end_task("a checkpoint");
}

void CheckpointIo::take(Job job) {
  jobs_.push_back(std::move(job));
  if (jobs_.size() == 1) advance();
}

void CheckpointIo::advance() {
  Job& job = jobs_.front();
  const auto give_up = [&](Status why) {
    fail(std::visit([](const auto& any) { return any.reply_to; }, job), std::move(why));
    return true;
  };
  bool done = false;
  try {
    done = std::visit([this](auto& any) { return advance(any); }, job);
  } catch (const Error& error) {
    done = give_up(explain(error, job));
  } catch (...) {
    done = give_up(self_->failure_of("a checkpoint"));
  }
  if (done) {
    writer_.reset();
    reader_.reset();
    jobs_.pop_front();
  }
  // Others may run before the next piece.
  if (!jobs_.empty()) caf::anon_send(self_, Tick{});
}

bool CheckpointIo::advance(SaveTensors& job) {
  if (!writer_)
    writer_ = std::make_unique<CheckpointFileWriter>(*task_->storage, job.folder, job.file,
                                                     job.global_step, std::move(job.tensors));
  if (writer_->write_some()) return false;
  complete(job.reply_to, {text_tensor(encode_manifest(writer_->commit()))});
  return true;
}

bool CheckpointIo::advance(LoadTensors& job) {
  if (!reader_) {
    Manifest manifest = decode_manifest(bytes_of(job.manifest));
    wanted_ = wanted_of(manifest, job.variables);
    std::vector<TensorRange> ranges;
    for (const auto& wanted : wanted_) ranges.push_back(wanted.range);
    reader_ =
        std::make_unique<CheckpointReader>(*task_->storage, job.folder, std::move(manifest), ranges);
  }
  if (reader_->read_some()) return false;
  caf::anon_send(task_->shard, TensorsLoaded{job.reply_to, take_loaded(job), job.epoch});
  return true;
}

std::vector<LoadedVariable> CheckpointIo::take_loaded(const LoadTensors& job) {
  auto tensors = reader_->take();
  std::vector<LoadedVariable> loaded(job.variables.size());
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    LoadedVariable& variable = loaded[wanted_[i].variable];
    variable.variable = job.variables[wanted_[i].variable].variable;
    if (wanted_[i].slot.empty())
      variable.state.value = std::move(tensors[i]);
    else
      put_slot(*task_->optimizers, variable, wanted_[i].slot, std::move(tensors[i]));
  }
  for (const auto& variable : loaded) check_slots(variable);
  return loaded;
}

Status CheckpointIo::explain(const Error& error, const Job& job) const {
  const std::string& folder =
      std::visit([](const auto& any) -> const std::string& { return any.folder; }, job);
  std::string text = fmt::format("{}: {}", task_->self.name.to_string(), error.what());
  if (error.code() == Code::not_found && std::holds_alternative<LoadTensors>(job))
    text += fmt::format("; every task needs the folder of checkpoints, '{}', at this path", folder);
  return {error.code(), std::move(text)};
}

caf::behavior checkpoint_io_actor(CheckpointIoActor* self, TaskRef task) {
  self->state = std::make_unique<CheckpointIo>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow
