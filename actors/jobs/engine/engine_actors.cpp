// The actors of a job's engine, from their beginning to their end.
#include <spdlog/spdlog.h>

#include <caf/actor_system.hpp>
#include <utility>
#include <vector>

#include "actors/core/ask.h"
#include "actors/core/await_end.h"
#include "actors/jobs/engine/agent/job_agent.h"
#include "actors/jobs/engine/coordinator/job_coordinator.h"
#include "actors/jobs/engine/job_engine.h"
#include "actors/jobs/engine/job_history.h"
#include "actors/jobs/engine/journal/journal_actor.h"
#include "actors/jobs/engine/program_build.h"
#include "actors/jobs/slices/slice_server.h"
#include "actors/named/switchboard.h"
#include "actors/runtime/random.h"
#include "actors/runtime/runtime.h"
#include "actors/runtime/thread_unit.h"

namespace actorflow {

void JobEngine::spawn_agent() {
  const SystemVisit visit;
  mail_->agent = runtime_->system().spawn(
      job_agent_actor,
      AgentOrder{mail_, kept_, tools(), sizes_.slots, options_.memory_bytes, runtime_->clock(),
                 options_.patience, runtime_->random().next() | 1U, options_.program_patience});
  if (mail_->task()) mail_->slices = runtime_->system().spawn(slice_server_actor, mail_, kept_);
}

void JobEngine::spawn_coordinator(std::vector<std::byte> contents) {
  mail_->coordinator = runtime_->system().spawn(
      job_coordinator_actor,
      CoordinatorOrder{
          .mail = mail_,
          .history = history_ ? std::move(history_->stages) : std::map<StageNumber, JobHistory::Stage>(),
          .terms = {sizes_.part_bytes, sizes_.chunk_bytes, tools().work_folder,
                    options_.shuffle_compression, std::move(contents)},
          .build = has_others() ? program_build() : "",
          .job = options_.job,
          .stopped = stopped_,
          .clock = runtime_->clock(),
          .reporter = options_.reporter,
          .skip_bad_records = options_.skip_bad_records,
          .patience = options_.patience,
          .program_patience = options_.program_patience});
}

void JobEngine::open_journal() {
  const JournaledJob job{terms_of(options_), sizes_.part_bytes, sizes_.chunk_bytes};
  auto journal = std::make_shared<JobJournal>(runtime_->storage(), options_.work_folder, mail_->run(),
                                              history_->last_file, job);
  journal->write();
  mail_->journal = runtime_->system().spawn(journal_actor, std::move(journal), mail_->task());
}

// Under the names by which other tasks send them messages.
void JobEngine::register_actors() {
  if (!mail_->task()) return;
  const auto add = [this](const char* name, const caf::actor& actor) {
    const auto status = ask<Status>(*runtime_, [&](auto reply) {
      const SystemVisit visit;
      caf::anon_send(mail_->task()->switchboard, RegisterActor{name, actor, reply});
    });
    throw_if_error(status ? *status : Status{Code::cancelled, "the task has ended"});
  };
  add(JobMail::slices_name, mail_->slices);
  add(JobMail::agent_name, mail_->agent);
  if (coordinates()) add(JobMail::coordinator_name, mail_->coordinator);
}

void JobEngine::close_journal(bool ended_well) {
  const auto is_left = ask<bool>(*runtime_, [&](std::function<void(bool)> reply) {
    caf::anon_send(mail_->journal, CloseJournal{ended_well, std::move(reply)});
  });
  if (is_left && *is_left)
    spdlog::info("what the job has done so far is in '{}': --resume goes on from there",
                 options_.work_folder);
}

// Parts that were to be made again may still run, and use what the job's functions refer to. The mail
// goes on to name the actors, which hold nothing any more: records that are released on another thread
// may just be about to tell them.
void JobEngine::end_actors() {
  const SystemVisit visit;
  ask<bool>(*runtime_, [this](auto reply) { caf::anon_send(mail_->agent, AbandonParts{reply}); });
  std::vector<caf::actor> actors;
  for (const auto& actor : {mail_->agent, mail_->coordinator, mail_->slices, mail_->journal})
    if (actor) actors.push_back(actor);
  if (mail_->task())
    for (const char* name : {JobMail::slices_name, JobMail::agent_name, JobMail::coordinator_name})
      caf::anon_send(mail_->task()->switchboard, UnregisterActor{name});
  await_end(*runtime_, actors, [&actors] {
    for (const auto& actor : actors) caf::anon_send_exit(actor, caf::exit_reason::kill);
  });
}

}  // namespace actorflow
