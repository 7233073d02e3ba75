// What the other tasks of a job are told when a task cannot take part: they would wait for it.
#pragma once

#include <chrono>
#include <vector>

#include "actors/strategies/replica_settings.h"

namespace actorflow {

struct ReplicaOptions;

// The options that all tasks must have in common.
ReplicaSettings settings_of(const ReplicaOptions& options);

// Whoever is refused from now on, as expect_settings_of() does it, is refused alone: the job goes on.
// REQUIRES: the server has published its settings.
void note_training(Server& server);

// Whether the task has published its settings by now, which it does when it has decided all else. False
// if it does not answer within a second.
bool has_published_settings(Server& server, const TaskName& task);

// Ok if the settings are the same. Else failed_precondition, which names both tasks and each setting of
// `own` of which the other one has another value.
Status refusal_of(const ReplicaSettings& own, const TaskName& self, const ReplicaSettings& theirs,
                  const TaskName& other);

// All other tasks fail for this reason, for which this task is refused, unless the chief trains already.
// Waits at most for `patience` until the chief has published its settings, or, at the chief, until all
// others are there: tasks are started one after another.
void tell_refusal(Server& server, const TaskName& chief, const Status& why,
                  std::chrono::milliseconds patience = {});

// At the chief, before its first step. Throws failed_precondition, as expect_settings_of() does, if one
// of these tasks, which serve, was given other settings. Those that were given none, or do not answer
// now, are passed over.
void expect_servers_agree(Server& server, const std::vector<TaskName>& servers,
                          const ReplicaSettings& own);

// For a chief that has failed, where other settings of another replica may be the cause. Throws
// failed_precondition if one has other settings; with each name, and both tasks and values. Those that
// do not answer now are passed over.
void expect_same_settings(Server& server, const std::vector<TaskName>& replicas,
                          const ReplicaSettings& own);

// For a chief that has failed before run_replica(): all other tasks fail for the same reason, unless the
// job has ended already. REQUIRES: called in a catch block.
void tell_why_the_chief_failed(Server& server);

}  // namespace actorflow
