// Guards the state of a training job against steps of its earlier life.
//
// Every task has a fencing epoch, 0 at first, and so has a session. Before the chief restores or
// initialises variables it raises the epoch of the tasks that hold them; a gradient that was computed
// before, and is still on its way, then fails as aborted instead of changing the restored variables. The
// same idea as Chubby's sequencers (Burrows, OSDI 2006, section 2.4).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

class EpochFence {
 public:
  // Adds its nodes to the graph. `devices`: one per task whose state is to be guarded, the chief's own
  // among them; `global_step_device`: that of the task with the global step.
  EpochFence(Graph& graph, const std::vector<std::string>& devices,
             const std::string& global_step_device);

  // For the chief, before it restores or initialises: raises the epoch of every task, and of this
  // session, above that of any task. Returns it. Throws aborted if another chief has been faster.
  std::int64_t raise(Session& session) const;
  // For the others, when the model is ready: the session joins the epoch of the job. Returns it.
  std::int64_t join(Session& session) const;

  // Odd epochs are those in which a chief makes the model ready. While it restores one variable after
  // the other, another replica may see that all have values, of which some are old, so replicas stay
  // out. close(), for the chief: raises all tasks and this session to an odd epoch that is above theirs
  // and above `above`, the epoch of a folder of checkpoints. Returns it. Throws as raise().
  std::int64_t close(Session& session, std::int64_t above = 0) const;
  // For the chief, when the model is ready: raises all to the next epoch, an even one; the task with the
  // global step last, since the others look there.
  void open(Session& session) const;
  // For the other replicas, instead of join(): joins the epoch of the job if it is even. While it is
  // odd, changes nothing and returns false.
  bool join_if_open(Session& session) const;
  // Whether the job is still in the epoch of the session.
  bool is_current(Session& session) const;

 private:
  std::int64_t highest(Session& session) const;
  void raise_to(std::int64_t epoch, Session& session, const std::vector<Output>& tasks) const;

  std::vector<Output> known_;   // of each task
  std::vector<Output> raised_;  // of each task but that with the global step, to run
  std::vector<Output> raised_at_global_step_;
  Output wanted_;  // fed
  Output at_global_step_;
};

}  // namespace actorflow
