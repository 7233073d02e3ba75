// Training by replicas that have all variables, step by themselves, and agree after some steps on what
// they have changed (AllReduce::local_steps).
#include <string>
#include <utility>
#include <vector>

#include "dataflow/graph/containers.h"
#include "dataflow/ops/replicated_ops.h"
#include "dataflow/train/gradient_buckets.h"
#include "dataflow/train/update_nodes.h"

namespace actorflow {
namespace {

class LocalTraining {
 public:
  LocalTraining(const Training& t, const AllReduce& strategy) : t_(t), strategy_(strategy) {}

  // To its graph each replica trains asynchronously and alone, so no step is ever repeated by another
  // one.
  TrainOp add() {
    const TrainOp alone = add_training(t_, Asynchronous{});
    TrainOp train;
    train.step = alone.step;
    train.local_step = alone.local_step;
    train.agree = t_.graph.name_scope("agreement", [&] { return agree_after(train.step); });
    return train;
  }

 private:
  template <class Build>
  auto on_device_of(const Variable& variable, Build&& build) {
    const std::string device = variable.device();  // a copy: the graph grows
    return t_.graph.on(device, std::forward<Build>(build));
  }

  // Changes nothing before all changes have been reduced.
  Output agree_after(const Output& step) {
    for (const auto& update : t_.updates) agreed_.push_back(agreed_values(update));
    const auto changes = t_.graph.after({step}, [&] { return changes_since_agreement(); });
    const ReducedMeans reduced = t_.graph.on(t_.worker, [&] {
      return reduced_means(changes, strategy_, t_.global_step.name() + "/changes");
    });
    return t_.graph.after(reduced.ends, [&] {
      std::vector<Output> taken;
      for (std::size_t i = 0; i < t_.updates.size(); ++i) {
        const Output updated = update_agreed(i, reduced.means[i]);
        taken.push_back(t_.graph.after({updated}, [&] { return take_agreed(i); }));
      }
      return t_.graph.group(taken, "agree");
    });
  }

  // The replica's own variable for what was agreed on: copy_state_of_first() gives it a value, and no
  // checkpoint has it.
  Variable agreed_values(const GradientAndVariable& update) {
    const Edge initial = update.variable.initializer().node().inputs[0];
    const std::string& name = update.variable.name();
    const std::string within_container = name.substr(name.rfind('|') + 1);
    return on_device_of(update.variable, [&] {
      return t_.graph.container(container_of(name), [&] {
        return t_.graph.variable(within_container, {&t_.graph, initial});
      });
    });
  }

  std::vector<Output> changes_since_agreement() {
    std::vector<Output> changes;
    for (std::size_t i = 0; i < t_.updates.size(); ++i) {
      const auto& update = t_.updates[i];
      const TensorType type = update.variable.type();  // a copy: the graph grows
      const Attrs attrs{{"variable", update.variable.name()},
                        {"since", agreed_[i].name()},
                        {"dtype", type.dtype},
                        {"shape", type.shape}};
      changes.push_back(on_device_of(update.variable, [&] {
        return t_.graph.add(read_change_op(), {}, attrs, beside(update, "change"));
      }));
    }
    return changes;
  }

  Output update_agreed(std::size_t i, const Output& mean_change) {
    const Optimizer outer = strategy_.outer;
    const Attrs attrs{{"variable", agreed_[i].name()},
                      {"optimizer", outer.name()},
                      {"hyperparameters", outer.hyperparameters()},
                      {"skip_not_finite", t_.replication.not_finite == NotFinite::skip}};
    return on_device_of(t_.updates[i].variable, [&] {
      return t_.graph.add(apply_reduced_gradient_op(), {mean_change}, attrs,
                          beside(t_.updates[i], "apply_outer"));
    });
  }

  Output take_agreed(std::size_t i) {
    const auto& update = t_.updates[i];
    const Attrs attrs{{"variable", update.variable.name()}, {"from", agreed_[i].name()}};
    return on_device_of(update.variable, [&] {
      return t_.graph.add(take_value_op(), {}, attrs, beside(update, "take_agreed"));
    });
  }

  const Training& t_;
  const AllReduce& strategy_;
  std::vector<Variable> agreed_;  // agreed_[i] belongs to the variable of update i
};

}  // namespace

TrainOp add_local_training(const Training& t, const AllReduce& strategy) {
  return LocalTraining(t, strategy).add();
}

}  // namespace actorflow
