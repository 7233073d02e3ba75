#include "actors/jobs/engine/journal/journal_actor.h"

#include <spdlog/spdlog.h>

#include <caf/send.hpp>
#include <chrono>
#include <utility>

#include "dataflow/values/exception_status.h"

namespace actorflow {
namespace {

constexpr auto try_again = std::chrono::seconds(1);

}  // namespace

caf::behavior JournalWriter::behavior() {
  self_->introduce("job-journal", task_ ? &task_->self.name : nullptr);
  return guarded(
      self_, this,  //
      [this](const JournaledStage& stage) {
        journal_->add(stage);
        write_soon();
      },
      [this](const JournaledPart& part) {
        journal_->add(part);
        write_soon();
      },
      [this](const WriteOutput& order) {
        journal_->add(order.output);
        write();
        order.reply(!refused_);
      },
      [this](const CloseJournal& order) { on(order); },
      [this](Tick) {
        due_ = false;
        write();
      });
}

void JournalWriter::write_soon() {
  if (!std::exchange(due_, true)) caf::anon_send(self_, Tick{});
}

void JournalWriter::write() {
  if (closed_) return;
  try {
    journal_->write();
    refused_ = false;
  } catch (...) {
    if (!std::exchange(refused_, true))
      spdlog::warn(
          "the journal in '{}' cannot be written now: {}; what is not there is done again after a loss",
          journal_->folder(), current_exception_status().message);
    if (!std::exchange(due_, true)) self_->delayed_send(self_, try_again, Tick{});
  }
}

void JournalWriter::on(const CloseJournal& order) {
  if (!order.ended_well) {
    write();
    closed_ = true;
    if (refused_)
      spdlog::warn("the journal in '{}' was not written to its end: --resume goes on from what is there",
                   journal_->folder());
    return order.reply(journal_->has_parts() && !refused_);
  }
  closed_ = true;
  try {
    remove_history(journal_->storage(), journal_->folder());
  } catch (...) {
    spdlog::warn("the job has ended, but its journal in '{}' is not removed: {}", journal_->folder(),
                 current_exception_status().message);
  }
  order.reply(false);
}

caf::behavior journal_actor(JournalActor* self, std::shared_ptr<JobJournal> journal, TaskRef task) {
  self->state = std::make_unique<JournalWriter>(self, std::move(journal), std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow
