#include "actors/jobs/engine/job_engine.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <caf/actor_system.hpp>
#include <utility>

#include "actors/core/ask.h"
#include "actors/core/await_end.h"
#include "actors/jobs/engine/agent/agent_orders.h"
#include "actors/jobs/engine/coordinator/coordinator_orders.h"
#include "actors/jobs/engine/disk_pause.h"
#include "actors/jobs/engine/job_failure.h"
#include "actors/jobs/engine/job_history.h"
#include "actors/jobs/engine/job_over.h"
#include "actors/jobs/engine/journal/journal_actor.h"
#include "actors/jobs/engine/program_build.h"
#include "actors/runtime/random.h"
#include "actors/runtime/runtime.h"
#include "actors/runtime/scheduler.h"
#include "actors/runtime/thread_unit.h"
#include "dataflow/values/check.h"

namespace actorflow {
namespace {

// Of all memory: what may say where the records lie that parts hand over.
constexpr std::size_t index_share = 8;

std::size_t slots_of(Runtime& runtime, std::size_t wanted) {
  return wanted > 0
             ? wanted
             : static_cast<std::size_t>(std::max(1, TaskScheduler::of(runtime.system()).helpers()));
}

// A job that was ended by an exception.
const Status not_ended{Code::cancelled, "the program of the coordinating task has ended early"};

}  // namespace

JobEngine::JobEngine(std::shared_ptr<Runtime> runtime, const JobEngineOptions& options,
                     std::shared_ptr<const TaskContext> task)
    : runtime_(std::move(runtime)),
      options_(options),
      mail_(std::make_shared<JobMail>(std::move(task))),
      history_(options.work_folder.empty() || !mail_->coordinates()
                   ? nullptr
                   : std::make_unique<JobHistory>(open_history(runtime_->storage(), options))),
      sizes_(sizes_of_job(options_.memory_bytes, slots_of(*runtime_, options_.slots),
                          history_ && history_->job ? &*history_->job : nullptr)),
      chunks_(std::make_shared<ChunkStore>(
          runtime_->storage(),
          ChunkStoreOptions{options.records_on_disk ? 0 : options.memory_bytes / 2, options.spill_folder,
                            options.spill_bytes, options.memory_bytes / index_share})) {
  spawn_agent();
  try {
    if (!mail_->task()) begin({});
  } catch (...) {  // a journal that cannot be written: the agent would wait for ever
    insist([this] { end_actors(); });
    throw;
  }
}

bool JobEngine::coordinates() const { return mail_->coordinates(); }

bool JobEngine::has_others() const { return mail_->tasks() > 1; }

JobEngine::Trainers JobEngine::trainers() const {
  Trainers trainers;
  for (int task = 0; task < mail_->tasks(); ++task) {
    const std::string job =
        mail_->task() ? mail_->task()->name_of(static_cast<TaskId>(task)).job : std::string();
    if (job == "ps" || job == "evaluator") continue;
    if (task == mail_->own()) trainers.own = static_cast<int>(trainers.tasks.size());
    trainers.tasks.push_back(task);
  }
  return trainers;
}

JobTools JobEngine::tools() const {
  return {runtime_->storage(), chunks_,  sizes_.part_bytes,
          sizes_.chunk_bytes,  stopped_, mail_->coordinates() ? options_.work_folder : ""};
}

void JobEngine::begin(std::vector<std::byte> contents) {
  ACTORFLOW_CHECK(coordinates());
  ACTORFLOW_CHECK(stages_ == 0, "now at stage", stages_);
  const SystemVisit visit;
  mail_->set_run(runtime_->random().next() | 1U);
  mail_->set_shuffle_compression(options_.shuffle_compression);
  if (history_) open_journal();
  spawn_coordinator(std::move(contents));
  register_actors();
}

std::optional<std::set<std::string>> JobEngine::earlier_files(const std::string& folder) const {
  if (!history_ || !history_->outputs.contains(folder)) return std::nullopt;
  return history_->files;
}

void JobEngine::begin_output(const std::string& folder) {
  ACTORFLOW_CHECK(coordinates(), folder);
  if (!mail_->journal) return;
  const auto answer = ask<bool>(*runtime_, [&](std::function<void(bool)> reply) {
    const SystemVisit visit;
    caf::anon_send(mail_->journal, WriteOutput{{folder}, std::move(reply)});
  });
  if (!answer) throw Error(Code::cancelled, "the task has ended");
}

void JobEngine::insist_on_disk(const std::function<void()>& action) {
  for (unsigned failures = 1;; ++failures) {
    std::string refused;
    try {
      return action();
    } catch (const StorageError& error) {
      if (failures == most_attempts || error.code() == Code::permission_denied || *stopped_) throw;
      refused = error.what();
    }
    const auto pause = disk_pause(failures);
    spdlog::warn("{}; it is tried again in {} s", refused, pause.count());
    runtime_->sleep(pause);
  }
}

std::optional<std::vector<std::byte>> JobEngine::join() {
  ACTORFLOW_CHECK(!coordinates());
  ACTORFLOW_CHECK(stages_ == 0, "now at stage", stages_);
  register_actors();
  const auto answer = ask<std::pair<Status, std::optional<JobTerms>>>(*runtime_, [this](auto reply) {
    const SystemVisit visit;
    const auto pass_on = [reply](Status status, std::optional<JobTerms> terms) {
      reply({std::move(status), std::move(terms)});
    };
    caf::anon_send(mail_->agent, AwaitJob{program_build(), pass_on});
  });
  throw_if_error(answer ? answer->first : Status{Code::cancelled, "the task has ended"});
  if (!answer->second) return std::nullopt;
  return answer->second->contents;
}

std::shared_ptr<KeptRecords> JobEngine::make_kept(StageNumber number, const StageSpec& stage) const {
  const auto forget = [number, kept = std::weak_ptr(kept_),
                       mail = std::weak_ptr(mail_)](KeptRecords* records) {
    delete records;
    if (const auto stages = kept.lock()) stages->remove(number);
    const auto actors = mail.lock();
    if (!actors) return;
    const SystemVisit visit;
    for (const auto& actor : {actors->agent, actors->coordinator})
      if (actor) caf::anon_send(actor, ForgetStage{number});
  };
  return {new KeptRecords(number, stage.parts, stage.partitions), forget};
}

StageResult JobEngine::run(StageSpec stage, std::uint32_t in_plan) {
  const StageNumber number = ++stages_;
  StageResult result;
  result.number = number;
  if (stage.keeps) {
    result.kept = make_kept(number, stage);
    kept_->add(number, result.kept);
  }
  const auto spec = std::make_shared<const StageSpec>(std::move(stage));
  auto end = ask<StageEnd>(*runtime_, [&](auto reply) {
    const SystemVisit visit;
    if (coordinates()) caf::anon_send(mail_->coordinator, CoordinateStage{number, in_plan, spec});
    caf::anon_send(mail_->agent, BeginStage{number, spec, result.kept, std::move(reply)});
  });
  if (!end) throw Error(Code::cancelled, "the task has ended");
  skipped_ = end->skipped_records;
  if (end->begins_anew) throw JobBeginsAnew();
  if (end->job_is_over) throw JobIsOver();
  if (!end->status.ok()) throw JobFailure(end->status);
  result.outcomes = std::move(end->outcomes);
  return result;
}

void JobEngine::end(const Status& status) {
  if (ended_) return;
  const SystemVisit visit;
  if (coordinates()) {
    if (mail_->coordinator)
      ask<bool>(*runtime_, [&](std::function<void(bool)> reply) {
        caf::anon_send(mail_->coordinator, EndJob{status, [reply] { reply(true); }});
      });
    ended_ = true;  // not before: the destructor asks again if there was no memory to ask
    if (mail_->journal) close_journal(status.ok());
    return;
  }
  const auto how = ask<std::pair<Status, bool>>(*runtime_, [&](auto reply) {
    caf::anon_send(mail_->agent, AwaitJobEnd{[reply](Status end, bool begins_anew) {
                     reply({std::move(end), begins_anew});
                   }});
  });
  ended_ = true;
  if (how && how->second) throw JobBeginsAnew();
  const Status failure = how ? how->first : Status{Code::cancelled, "the task has ended"};
  if (!failure.ok()) throw JobFailure(failure);
}

JobEngine::~JobEngine() {
  try {
    insist([this] {
      if (coordinates()) end(not_ended);
      end_actors();
    });
  } catch (...) {  // A simulation ends a killed client while it waits: its actors have ended already.
  }
}

Storage& JobEngine::storage() { return runtime_->storage(); }

}  // namespace actorflow
