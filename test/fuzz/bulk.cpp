// A bulk plane: large messages, and the bytes of their tensors behind them.
#include "kernels/core/kernel.h"
#include "schema/rpc/bulk_receiver.h"
#include "test/fuzz/support/wire_input.h"

using namespace actorflow;

namespace {

RpcOptions options() {
  RpcOptions options;
  options.max_incoming_bytes = std::size_t{1} << 20;
  options.shared_memory_bytes = 0;
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static RpcCore& core = *new RpcCore(builtin_ops().registry(), heap(), options());
  fuzz::Signal ended, closed;
  std::shared_ptr<BulkReceiver> lane;
  std::shared_ptr<IncomingBudget> budget;
  core.loop.post([&] {
    auto peer = kj::heap<fuzz::Peer>(fuzz::input(data, size),
                                     fuzz::PeerEvents{[&] { ended.happened(); }, [&] { closed.happened(); }});
    const auto failed = [&](const std::string& reason) {
      fuzz::require(!reason.empty(), "there is a reason");
      ended.happened();
    };
    budget = std::make_shared<IncomingBudget>(core.loop.timer(), core.options);
    lane = std::make_shared<BulkReceiver>(core, kj::mv(peer), nullptr, budget->share("peer"),
                                          BulkReceiver::Events{[](const Message&) {}, failed});
    lane->start();
  });
  ended.wait();
  core.loop.run([&] {
    lane->stop();
    lane.reset();
    budget->stop();
    budget.reset();
  });
  closed.wait();
  return 0;
}
