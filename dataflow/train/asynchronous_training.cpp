#include <utility>

#include "dataflow/graph/core_ops.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/replica_nodes.h"
#include "dataflow/train/replica_training.h"
#include "dataflow/train/update_nodes.h"

namespace actorflow {
namespace {

// Each update carries the serial of its step, by which it is known when a step is made again after a
// failure: a constant of the replica's, sent with the gradients. If each task were fed its own, none
// could begin a step before the client asks for it.
class AsynchronousTraining {
 public:
  explicit AsynchronousTraining(const Training& t)
      : t_(t),
        serial_(
            t.graph.on(host_of(t.worker), [&] { return t.graph.constant(std::int64_t{-1}, "serial"); })),
        sent_(t, {{serial_, "sent_serial"}}) {}

  TrainOp add() {
    std::vector<Output> applied, counts;
    for (const auto& update : t_.updates) {
      applied.push_back(apply(update));
      counts.push_back(count_gradients(t_, update.variable, beside(update, "gradient_counts")));
    }
    TrainOp train;
    train.step = t_.graph.after(gathered(t_, applied), [&] {
      return on_global_step(
          count_step_op(), {t_.global_step.value(), sent_.to(t_.global_step.device())[0]}, "count_step");
    });
    train.local_step = t_.global_step;
    train.serials = {serial_};
    train.next_serial = on_global_step(next_serial_op(), {}, "next_serial");
    train.gradient_counts = std::move(counts);
    train.step_counts = count_gradients(t_, t_.global_step, "step_counts");
    return train;
  }

 private:
  Output apply(const GradientAndVariable& update) {
    const std::string device = update.variable.device();  // a copy: the graph grows
    GradientInputs inputs(update.gradient);
    auto& all = inputs.outputs;
    all.insert(inputs.sparse ? all.begin() : all.end(), sent_.to(device)[0]);
    if (t_.learning_rate) all.push_back(t_.learning_rate);
    Attrs attrs = update_attrs(t_, update.variable);
    attrs.merge(serial_attrs());
    return t_.graph.on(device, [&] {
      return t_.graph.add(inputs.sparse ? apply_sparse_gradient_op() : apply_gradient_op(), all,
                          std::move(attrs), beside(update, "apply"));
    });
  }

  Output on_global_step(const OpDef& op, const std::vector<Output>& inputs, std::string_view name) {
    Attrs attrs = serial_attrs();
    attrs["variable"] = t_.global_step.name();
    return t_.graph.on(t_.global_step.device(),
                       [&] { return t_.graph.add(op, inputs, std::move(attrs), name); });
  }

  Attrs serial_attrs() const {
    return {{"replica", std::int64_t{t_.replication.replica}}, {"train_op", serial_.name()}};
  }

  const Training& t_;
  Output serial_;
  SentNumbers sent_;
};

// Bounded staleness: holds back a replica that is too far ahead. The replica's clock moves after its
// step has been counted.
class ReplicaClock {
 public:
  ReplicaClock(const Training& t, const BoundedStaleness& strategy)
      : t_(t), bound_(strategy.bound), clock_(local_variable(t, "clock")) {}

  TrainOp add(TrainOp train) {
    const Output advanced = t_.graph.after(
        {train.step}, [&] { return add_op(advance_clock_op(), {clock_}, attrs(), "advance_clock"); });
    const Output moved = t_.graph.assign(clock_, advanced, "set_clock");
    train.step = t_.graph.on(t_.worker, [&] {
      return t_.graph.after({moved},
                            [&] { return t_.graph.add(identity_op(), {train.step}, {}, "step"); });
    });
    Attrs joining = attrs();
    joining["task"] = task_of(t_.worker);
    train.local_init =
        t_.graph.assign(clock_, add_op(join_clocks_op(), {}, std::move(joining), "join"), "begin_clock");
    train.leave = add_op(leave_clocks_op(), {}, attrs(), "leave");
    train.max_lead = add_op(clock_statistics_op(), {}, attrs(), "max_lead");
    return train;
  }

 private:
  Attrs attrs() const {
    return {{"variable", t_.global_step.name()},
            {"replica", std::int64_t{t_.replication.replica}},
            {"total_num_replicas", std::int64_t{t_.replication.replicas}},
            {"staleness_bound", bound_}};
  }
  Output add_op(const OpDef& op, const std::vector<Output>& inputs, Attrs attrs, std::string_view name) {
    return t_.graph.on(t_.global_step.device(),
                       [&] { return t_.graph.add(op, inputs, std::move(attrs), name); });
  }

  const Training& t_;
  const std::int64_t bound_;
  Variable clock_;
};

}  // namespace

TrainOp add_training(const Training& t, const Asynchronous&) {
  return t.graph.name_scope(training_scope, [&] { return AsynchronousTraining(t).add(); });
}

TrainOp add_training(const Training& t, const BoundedStaleness& strategy) {
  return t.graph.name_scope(training_scope, [&] {
    TrainOp train = AsynchronousTraining(t).add();
    return ReplicaClock(t, strategy).add(std::move(train));
  });
}

}  // namespace actorflow
