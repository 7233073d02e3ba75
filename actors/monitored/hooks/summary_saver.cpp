#include "actors/monitored/event_log.h"
#include "actors/monitored/hooks.h"

namespace actorflow {
namespace {

class SummarySaver : public SessionHook {
 public:
  SummarySaver(const Summaries& summaries, std::shared_ptr<EventWriter> writer, Every every)
      : summaries_(summaries), log_(std::move(writer)), every_(every) {}

  void begin(Scaffold& scaffold) override {
    graph_ = &scaffold.graph;
    global_step_ = scaffold.global_step;
  }

  void after_create_session(RunContext& context) override {
    timer_ = StepTimer(every_);
    next_step_ = context.session().run(global_step_).scalar<std::int64_t>();
    log_.write([&](EventWriter& writer) {
      if (graph_) writer.graph(std::exchange(graph_, nullptr)->def());
      writer.session_start(next_step_);
    });
  }

  RunArgs before_run(RunContext& context) override {
    RunArgs args{{global_step_}};
    if (timer_.is_due(next_step_, context.now())) {
      const auto& wanted = summaries_.fetches();
      args.fetches.insert(args.fetches.end(), wanted.begin(), wanted.end());
    }
    return args;
  }

  void after_run(RunContext& context, std::span<const Tensor> results) override {
    const auto step = results[0].scalar<std::int64_t>();
    next_step_ = step + 1;
    if (results.size() == 1) return;
    timer_.done(step, context.now());
    auto values = summaries_.values(results.subspan(1));
    log_.write([&](EventWriter& writer) { writer.write(step, std::move(values)); });
  }

  void end(Session&) override {
    log_.write([](EventWriter& writer) { writer.flush(); });
  }

 private:
  const Summaries& summaries_;
  EventLog log_;
  Every every_;
  StepTimer timer_{every_};
  const Graph* graph_ = nullptr;  // until it is written
  Variable global_step_;
  std::int64_t next_step_ = 0;
};

}  // namespace

HookRef summary_saver(const Summaries& summaries, std::shared_ptr<EventWriter> writer, Every every) {
  return std::make_shared<SummarySaver>(summaries, std::move(writer), every);
}

}  // namespace actorflow
