#include "actors/client/dataset_iterator.h"

#include <caf/send.hpp>

#include <optional>
#include <utility>

#include "actors/core/ask.h"
#include "actors/core/await_end.h"
#include "actors/input/input_actor.h"
#include "actors/runtime/threaded_runtime.h"
#include "actors/task/server.h"

namespace actorflow {
namespace {

struct Answer {
  Status status;
  Tuple element;
};

}  // namespace

struct DatasetIterator::Impl {
  Impl(std::shared_ptr<Runtime> runs_on, const Dataset& dataset, const std::optional<TaskName>& task)
      : runtime(std::move(runs_on)), actor(spawn_input(dataset, *runtime, task)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    try {
      await_end(*runtime, {actor},
                [this] { caf::anon_send_exit(actor, caf::exit_reason::user_shutdown); });
    } catch (...) {  // A simulation ends a killed client while it waits: its actors have ended already.
    }
  }

  std::shared_ptr<Runtime> runtime;
  caf::actor actor;
};

DatasetIterator::DatasetIterator(const Server& server, const Dataset& dataset)
    : impl_(std::make_unique<Impl>(server.runtime(), dataset, server.name())) {}

DatasetIterator::DatasetIterator(const Dataset& dataset, std::shared_ptr<Runtime> runtime)
    : impl_(std::make_unique<Impl>(runtime ? std::move(runtime) : std::make_shared<ThreadedRuntime>(),
                                   dataset, std::nullopt)) {}

DatasetIterator::DatasetIterator(DatasetIterator&&) noexcept = default;
DatasetIterator& DatasetIterator::operator=(DatasetIterator&&) noexcept = default;
DatasetIterator::~DatasetIterator() = default;

Tuple DatasetIterator::next() {
  auto answer = ask<Answer>(*impl_->runtime, [this](std::function<void(Answer)> reply) {
    caf::anon_send(impl_->actor, NextElement{[reply = std::move(reply)](Status status, Tuple element) {
                     reply({std::move(status), std::move(element)});
                   }});
  });
  if (!answer) throw Error(Code::cancelled, "the dataset's iterator has ended");
  throw_if_error(answer->status);
  return std::move(answer->element);
}

void DatasetIterator::skip_to(std::int64_t position) {
  actorflow::skip_to(impl_->actor, position, *impl_->runtime);
}

}  // namespace actorflow
