#include "schema/rpc/master_caller.h"

#include <memory>

#include "schema/codec/graph_codec.h"
#include "schema/codec/message_codec.h"
#include "schema/codec/text.h"
#include "schema/codec/trace_codec.h"
#include "schema/codec/transfer.h"

namespace actorflow {
namespace {

using Reply = kj::Own<MasterReply>;

// Generous: a sink belongs to one call, and takes only results that the client has asked for.
constexpr std::size_t max_result_bytes = std::size_t{1} << 40;

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

// Sends one request of any kind; destroyed when the reply comes.
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
    to.setPlainLaunches(!options.cuda_graphs);
    to.setNodeActors(options.executor == Executor::node_actors);
  }

  // Of runStep and runCallable, which have these parameters and results in common.
  template <class Request, class Step>
  kj::Promise<Reply> send_step(Request request, TensorWriter& tensors, const Step& step) {
    request.setTimeoutMs(step.timeout_ms);
    request.setEpoch(step.epoch);
    request.setTrace(step.trace);
    const auto received = std::make_shared<TransferReceiver>(allocator_, max_result_bytes);
    request.setSink(kj::heap<ResultSink>(received));
    return send(kj::mv(request), tensors,
                [&allocator = allocator_, received](const auto& from, MasterReply& to) {
                  TensorReader reader(allocator, *received);
                  for (const auto fetch : from.getFetches()) to.fetches.push_back(reader.read(fetch));
                  throw_if_error(reader.refusal());
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

kj::Own<MasterReply> failure(Status status) {
  return kj::heap<MasterReply>(MasterReply{.status = std::move(status)});
}

kj::Promise<kj::Own<MasterReply>> MasterCaller::call(const MasterRequest& request) {
  return std::visit(Caller(master_, rpc_, allocator_), request);
}

}  // namespace actorflow
