#include "actors/monitored/hooked_steps.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "dataflow/transform/optimise.h"

namespace actorflow {
namespace {

// The fetches of a program and of hooks as one list, in which every tensor is once.
class Fetches {
 public:
  explicit Fetches(std::vector<Output> own) : all_(std::move(own)) {}

  std::size_t add(Output output) {
    const auto found = std::ranges::find(all_, output.edge, &Output::edge);
    if (found != all_.end()) return static_cast<std::size_t>(found - all_.begin());
    all_.push_back(output);
    return all_.size() - 1;
  }
  const std::vector<Output>& all() const { return all_; }

 private:
  std::vector<Output> all_;
};

}  // namespace

void HookedSteps::add(std::shared_ptr<SessionHook> hook) {
  hooks_.push_back(std::move(hook));
  hooks_.back()->begin(scaffold_);
}

bool HookedSteps::begin(Session& session) {
  RunContext context(session, runtime_, made_for({}, {}));
  for (const auto& hook : hooks_) hook->after_create_session(context);
  return context.stop_requested();
}

// Of each node, whether a step makes it that is asked for these.
const std::vector<bool>& HookedSteps::made_for(const std::vector<Output>& fetches,
                                               const std::vector<Output>& targets) {
  std::vector<NodeId> asked;
  const auto ask = [&](const std::vector<Output>& outputs, const std::string& what) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      expect_in_graph(scaffold_.graph, outputs[i],
                      what + std::to_string(i) + " of the monitored session");
      asked.push_back(outputs[i].edge.node);
    }
  };
  ask(fetches, "fetch ");
  ask(targets, "target ");
  const auto [known, is_new] = made_.try_emplace(asked);
  if (is_new) known->second = needed_by(scaffold_.graph.def(), asked);
  return known->second;
}

HookedSteps::Result HookedSteps::run(Session& session, const std::vector<Output>& own_fetches,
                                     const Feeds& own_feeds, const std::vector<Output>& targets) {
  RunContext context(session, runtime_, made_for(own_fetches, targets));
  Fetches fetches(own_fetches);
  Feeds feeds = own_feeds;
  RunOptions options;
  std::vector<std::vector<std::size_t>> wanted;  // by hook: positions among the fetches
  for (const auto& hook : hooks_) {
    RunArgs args = hook->before_run(context);
    auto& positions = wanted.emplace_back();
    for (const auto& output : args.fetches) positions.push_back(fetches.add(output));
    std::ranges::move(args.feeds, std::back_inserter(feeds));
    options.trace |= args.trace;
  }
  std::vector<Tensor> results =
      session.run(fetches.all(), feeds, targets, options, options.trace ? &context.metadata() : nullptr);
  for (std::size_t i = 0; i < hooks_.size(); ++i) {
    std::vector<Tensor> values;
    for (const auto position : wanted[i]) values.push_back(results[position]);
    hooks_[i]->after_run(context, values);
  }
  results.resize(own_fetches.size());
  return {std::move(results), context.stop_requested()};
}

}  // namespace actorflow
