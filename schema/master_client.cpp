#include "schema/master_client.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "schema/codec/graph_codec.h"
#include "schema/codec/message_codec.h"
#include "schema/codec/text.h"
#include "schema/codec/transfer.h"
#include "schema/rpc/address.h"
#include "schema/rpc/rpc_core.h"

namespace actorflow {
namespace {

using Clock = std::chrono::steady_clock;
using Reply = kj::Own<MasterReply>;

constexpr std::int64_t retry_ms = 100;
// A sink belongs to one call, whose results are what the client has asked for.
constexpr std::size_t max_result_bytes = std::size_t{1} << 40;

Reply failure(Status status) {
  return kj::heap<MasterReply>(MasterReply{.status = std::move(status)});
}

// Takes the large tensors of one call's results.
class ResultSink final : public wire::TensorSink::Server {
 public:
  explicit ResultSink(std::shared_ptr<TransferReceiver> transfers) : transfers_(std::move(transfers)) {}

  kj::Promise<void> put(PutContext context) override {
    transfers_->put(context.getParams().getChunk());
    return kj::READY_NOW;
  }
  kj::Promise<void> done(DoneContext) override { return kj::READY_NOW; }

 private:
  std::shared_ptr<TransferReceiver> transfers_;
};

// Sends each kind of request; the loop's.
class Caller {
 public:
  Caller(wire::Master::Client master, RpcEnd& rpc, Allocator& allocator)
      : master_(kj::mv(master)), rpc_(rpc), allocator_(allocator) {}

  kj::Promise<Reply> operator()(const CreateSession& create) {
    auto request = master_.createSessionRequest();
    TensorWriter tensors = writer(request);
    write_graph(create.graph, tensors, request.initGraph());
    write_options(create.options, request.initOptions());
    return send(kj::mv(request), tensors, [](const auto& from, MasterReply& to) {
      to.session = to_string(from.getSession());
      to.graph_version = from.getGraphVersion();
    });
  }

  kj::Promise<Reply> operator()(const ExtendSession& extend) {
    auto request = master_.extendSessionRequest();
    TensorWriter tensors = writer(request);
    request.setSession(to_text(extend.session));
    write_nodes(extend.nodes, tensors, request.initNodes());
    request.setCurrentVersion(extend.version);
    return send(kj::mv(request), tensors,
                [](const auto& from, MasterReply& to) { to.graph_version = from.getGraphVersion(); });
  }

  kj::Promise<Reply> operator()(const RunStep& step) {
    auto request = master_.runStepRequest();
    TensorWriter tensors = writer(request);
    request.setSession(to_text(step.session));
    auto feeds = request.initFeeds(size(step.feeds));
    for (unsigned i = 0; i < feeds.size(); ++i) {
      feeds[i].setName(to_text(step.feeds[i].first));
      tensors.write(step.feeds[i].second, feeds[i].initValue());
    }
    write_texts(step.fetches, request.initFetches(size(step.fetches)));
    write_texts(step.targets, request.initTargets(size(step.targets)));
    return send_step(kj::mv(request), tensors, step);
  }

  kj::Promise<Reply> operator()(const MakeCallable& make) {
    auto request = master_.makeCallableRequest();
    TensorWriter tensors = writer(request);
    request.setSession(to_text(make.session));
    write_texts(make.feeds, request.initFeeds(size(make.feeds)));
    write_texts(make.fetches, request.initFetches(size(make.fetches)));
    write_texts(make.targets, request.initTargets(size(make.targets)));
    return send(kj::mv(request), tensors,
                [](const auto& from, MasterReply& to) { to.callable = from.getCallable(); });
  }

  kj::Promise<Reply> operator()(const RunCallable& run) {
    auto request = master_.runCallableRequest();
    TensorWriter tensors = writer(request);
    request.setSession(to_text(run.session));
    request.setCallable(run.callable);
    auto feeds = request.initFeeds(size(run.feeds));
    for (unsigned i = 0; i < feeds.size(); ++i) tensors.write(run.feeds[i], feeds[i]);
    return send_step(kj::mv(request), tensors, run);
  }

  kj::Promise<Reply> operator()(const ReleaseCallable& release) {
    auto request = master_.releaseCallableRequest();
    TensorWriter tensors = writer(request);
    request.setSession(to_text(release.session));
    request.setCallable(release.callable);
    return send(kj::mv(request), tensors, [](const auto&, MasterReply&) {});
  }

  kj::Promise<Reply> operator()(const CloseSession& close) {
    auto request = master_.closeSessionRequest();
    TensorWriter tensors = writer(request);
    request.setSession(to_text(close.session));
    return send(kj::mv(request), tensors, [](const auto&, MasterReply&) {});
  }

  kj::Promise<Reply> operator()(const ListDevices& list) {
    auto request = master_.listDevicesRequest();
    TensorWriter tensors = writer(request);
    request.setSession(to_text(list.session));
    return send(kj::mv(request), tensors,
                [](const auto& from, MasterReply& to) { to.devices = read_devices(from.getDevices()); });
  }

  kj::Promise<Reply> operator()(const DescribePlacement& placement) {
    auto request = master_.placementRequest();
    TensorWriter tensors = writer(request);
    request.setSession(to_text(placement.session));
    return send(kj::mv(request), tensors,
                [](const auto& from, MasterReply& to) { to.placement = read_texts(from.getDevices()); });
  }

  kj::Promise<Reply> operator()(const Reset& reset) {
    auto request = master_.resetRequest();
    TensorWriter tensors = writer(request);
    write_texts(reset.containers, request.initContainers(size(reset.containers)));
    write_texts(reset.device_filters, request.initDeviceFilters(size(reset.device_filters)));
    return send(kj::mv(request), tensors, [](const auto&, MasterReply&) {});
  }

 private:
  template <class T>
  static unsigned size(const std::vector<T>& list) {
    return static_cast<unsigned>(list.size());
  }

  static void write_options(const SessionOptions& options, wire::SessionOptions::Builder to) {
    write_texts(options.device_filters, to.initDeviceFilters(size(options.device_filters)));
    to.setIsolate(options.isolate);
    to.setRequireDevices(!options.allow_soft_placement);
    to.setStepTimeoutMs(options.step_timeout_ms);
  }

  // Of runStep and runCallable, which have these parameters and results in common.
  template <class Request, class Step>
  kj::Promise<Reply> send_step(Request request, TensorWriter& tensors, const Step& step) {
    request.setTimeoutMs(step.timeout_ms);
    request.setEpoch(step.epoch);
    request.setTrace(step.trace);
    const auto received = std::make_shared<TransferReceiver>(allocator_, max_result_bytes);
    request.setSink(kj::heap<ResultSink>(received));
    return send(kj::mv(request), tensors, [this, received](const auto& from, MasterReply& to) {
      TensorReader reader(allocator_, *received);
      for (const auto fetch : from.getFetches()) to.fetches.push_back(reader.read(fetch));
      to.trace.nodes = read_node_traces(from.getTrace());
    });
  }

  template <class Request>
  TensorWriter writer(Request& request) {
    return {capnp::Orphanage::getForMessageContaining(typename Request::Builds::Builder(request)),
            *rpc_.stream.keeper(), rpc_.next_transfer};
  }

  template <class Request, class Read>
  kj::Promise<Reply> send(Request request, TensorWriter& tensors, Read read) {
    throw_if_error(check_size(request.totalSize()));
    return send_transfers(tensors.take_transfers(), master_, rpc_.stream.keeper())
        .then([request = kj::mv(request)]() mutable { return request.send(); })
        .then([read](auto&& results) {
          auto reply = kj::heap<MasterReply>();
          try {
            reply->status = read_status(results.getStatus());
            read(results, *reply);
          } catch (const Error& error) {
            return failure(error.status());
          }
          return reply;
        });
  }

  wire::Master::Client master_;
  RpcEnd& rpc_;
  Allocator& allocator_;
};

}  // namespace

struct MasterClient::Impl {
  Impl(const std::string& master_address, Allocator& memory)
      : address(Address::parse(master_address).to_string()), allocator(memory) {}
  ~Impl() {
    loop.run([this] {
      calls = nullptr;
      caller = nullptr;
      rpc = nullptr;
    });
  }

  void connect(std::int64_t timeout_ms);
  kj::Promise<void> try_to_connect(Clock::time_point deadline);
  void start(const MasterRequest& request, const std::shared_ptr<std::promise<MasterReply>>& answer);

  struct IgnoreErrors final : kj::TaskSet::ErrorHandler {
    void taskFailed(kj::Exception&&) override {}
  };

  const std::string address;
  Allocator& allocator;
  IgnoreErrors ignore_errors;  // every call reports its own
  IoLoop loop{[](const std::string&) {}};
  kj::Own<RpcEnd> rpc;  // the rest: the loop's
  kj::Own<Caller> caller;
  kj::Own<kj::TaskSet> calls;
  Status refusal;
  std::string last_failure = "no answer";
};

MasterClient::MasterClient(const std::string& address, Allocator& allocator,
                           std::int64_t connect_timeout_ms)
    : impl_(std::make_unique<Impl>(address, allocator)) {
  impl_->connect(connect_timeout_ms);
}

MasterClient::~MasterClient() = default;

void MasterClient::Impl::connect(std::int64_t timeout_ms) {
  const auto finished = std::make_shared<std::promise<void>>();
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  loop.run([&] {
    calls = kj::heap<kj::TaskSet>(ignore_errors);
    calls->add(try_to_connect(deadline).then([finished] { finished->set_value(); }));
  });
  finished->get_future().wait();
  throw_if_error(refusal);
  if (!caller)
    throw Error(Code::unavailable, "no master answered at " + address + " within " +
                                       std::to_string(timeout_ms) + " ms (" + last_failure +
                                       "); is a server running there?");
}

kj::Promise<void> MasterClient::Impl::try_to_connect(Clock::time_point deadline) {
  const auto left_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (left_ms <= 0) return kj::READY_NOW;
  auto opened = call_task(loop, address)
                    .then([this](kj::Own<RpcEnd> end) {
                      rpc = kj::mv(end);
                      auto request = rpc->task().masterRequest();
                      request.setProtocolVersion(wire::PROTOCOL_VERSION);
                      return request.send();
                    })
                    .then([this](capnp::Response<wire::Task::MasterResults> results) {
                      refusal = read_status(results.getStatus());
                      if (refusal.ok()) caller = kj::heap<Caller>(results.getMaster(), *rpc, allocator);
                    });
  return loop.timer()
      .timeoutAfter(left_ms * kj::MILLISECONDS, kj::mv(opened))
      .catch_([this, deadline](kj::Exception&& exception) {
        const bool late = exception.getType() == kj::Exception::Type::OVERLOADED;
        if (!late) last_failure = exception.getDescription().cStr();
        return loop.timer().afterDelay(retry_ms * kj::MILLISECONDS).then([this, deadline] {
          return try_to_connect(deadline);
        });
      });
}

void MasterClient::Impl::start(const MasterRequest& request,
                               const std::shared_ptr<std::promise<MasterReply>>& answer) {
  try {
    calls->add(std::visit(*caller, request)
                   .catch_([this](kj::Exception&& exception) {
                     return failure({Code::unavailable, "lost the connection to the master at " +
                                                            address + ": " +
                                                            exception.getDescription().cStr()});
                   })
                   .then([answer](Reply reply) { answer->set_value(std::move(*reply)); }));
  } catch (const Error& error) {
    answer->set_value({.status = error.status()});
  }
}

MasterReply MasterClient::call(const MasterRequest& request) {
  const auto answer = std::make_shared<std::promise<MasterReply>>();
  auto future = answer->get_future();
  impl_->loop.post(
      [&impl = *impl_, &request, answer = std::move(answer)] { impl.start(request, answer); });
  try {
    return future.get();
  } catch (const std::future_error&) {
    return {.status = {Code::unavailable, "the client was closed during the call"}};
  }
}

}  // namespace actorflow
