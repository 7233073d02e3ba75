#include "actors/monitored/hooks.h"

namespace actorflow {
namespace {

using Values = std::function<void(const std::vector<Tensor>&)>;

class FinalOps : public SessionHook {
 public:
  FinalOps(std::vector<Output> fetches, Values values, Feeds feeds)
      : fetches_(std::move(fetches)), values_(std::move(values)), feeds_(std::move(feeds)) {}

  void end(Session& session) override { values_(session.run(fetches_, feeds_)); }

 private:
  std::vector<Output> fetches_;
  Values values_;
  Feeds feeds_;
};

}  // namespace

HookRef final_ops(std::vector<Output> fetches, Values values, Feeds feeds) {
  return std::make_shared<FinalOps>(std::move(fetches), std::move(values), std::move(feeds));
}

}  // namespace actorflow
