#include "actors/client/dataset_iterator.h"

#include <spdlog/spdlog.h>

#include <caf/send.hpp>
#include <chrono>
#include <new>
#include <optional>
#include <string>
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
      : runtime(std::move(runs_on)),
        who(task ? task->to_string() : "an iterator"),
        asks_ahead(dataset.prefetched() > 0),
        actor(spawn_input(asks_ahead ? dataset.prefetch(dataset.prefetched() - 1) : dataset, *runtime,
                          task)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    try {
      insist([this] {
        await_end(*runtime, {actor},
                  [this] { caf::anon_send_exit(actor, caf::exit_reason::user_shutdown); });
      });
    } catch (...) {  // A simulation ends a killed client while it waits: its actors have ended already.
    }
  }

  void report(std::chrono::seconds waited) const {
    spdlog::info(
        "{} waits for element {} of a dataset, since {} s: a function of it, or what it reads, "
        "has not come back",
        who, position, waited.count());
  }

  void ask() {
    asked.emplace([this](std::function<void(Answer)> reply) {
      caf::anon_send(actor, NextElement{[reply = std::move(reply)](Status status, Tuple element) {
                       reply({std::move(status), std::move(element)});
                     }});
    });
  }

  void ask_ahead() {
    try {
      ask();
    } catch (const std::bad_alloc&) {  // the next call asks
    }
  }

  std::shared_ptr<Runtime> runtime;
  std::string who;
  // Of the elements that are computed before they are requested one is asked for at once: the program
  // finds its answer, and need not wait for an actor between two steps.
  bool asks_ahead;
  caf::actor actor;
  std::optional<PendingAnswer<Answer>> asked;
  std::int64_t position = 0;  // of the next element
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
  if (!impl_->asked) impl_->ask();
  auto answer = impl_->asked->wait(*impl_->runtime,
                                   [this](std::chrono::seconds waited) { impl_->report(waited); });
  impl_->asked.reset();
  if (!answer) throw Error(Code::cancelled, "the dataset's iterator has ended");
  throw_if_error(answer->status);
  ++impl_->position;
  if (impl_->asks_ahead) impl_->ask_ahead();
  return std::move(answer->element);
}

void DatasetIterator::skip_to(std::int64_t position) {
  impl_->asked.reset();
  actorflow::skip_to(impl_->actor, position, *impl_->runtime);
  impl_->position = position;
}

}  // namespace actorflow
