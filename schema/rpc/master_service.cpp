#include "schema/rpc/master_service.h"

#include <kj/debug.h>

#include <mutex>

#include "schema/codec/graph_codec.h"
#include "schema/codec/message_codec.h"
#include "schema/codec/text.h"
#include "schema/codec/trace_codec.h"

namespace actorflow {
namespace {

unsigned size(const std::vector<std::string>& texts) { return static_cast<unsigned>(texts.size()); }

SessionOptions read_options(wire::SessionOptions::Reader from) {
  return {read_texts(from.getDeviceFilters()),
          from.getIsolate(),
          !from.getRequireDevices(),
          from.getStepTimeoutMs(),
          !from.getPlainLaunches(),
          from.getNodeActors() ? Executor::node_actors : Executor::lanes};
}

using Reply = kj::Own<MasterReply>;

Reply failed_reply(Status status) {
  return kj::heap<MasterReply>(MasterReply{.status = std::move(status)});
}

// A call that waits for its reply on the loop.
struct Waiting {
  std::mutex mutex;
  IoLoop* loop = nullptr;  // guarded by mutex; null once there is a reply, or no call waits
  kj::Own<kj::PromiseFulfiller<Reply>> fulfiller;  // the loop's
};

// Carries a reply from any thread to the loop, which may be gone by then. If destroyed without a reply,
// it sends an error.
class ReplyGate {
 public:
  explicit ReplyGate(std::shared_ptr<Waiting> waiting) : waiting_(std::move(waiting)) {}
  ReplyGate(const ReplyGate&) = delete;
  ReplyGate& operator=(const ReplyGate&) = delete;
  ~ReplyGate() {
    KJ_IF_MAYBE (
        exception, kj::runCatchingExceptions([this] {
          pass(failed_reply({Code::internal, "the master gave the request up without an answer"}));
        })) {
      const std::lock_guard lock(waiting_->mutex);
      if (waiting_->loop) waiting_->loop->lost("answering a client's call", *exception);
    }
  }

  // Throws if there is no memory for it; the call then waits for another reply.
  void pass(Reply reply) {
    const std::lock_guard lock(waiting_->mutex);
    if (!waiting_->loop) return;
    // A posted task is copyable, a kj::Own is not.
    const auto kept = std::make_shared<Reply>(kj::mv(reply));
    waiting_->loop->post([waiting = waiting_, kept] {
      if (waiting->fulfiller.get() != nullptr) waiting->fulfiller->fulfill(kj::mv(*kept));
    });
    waiting_->loop = nullptr;
  }

 private:
  std::shared_ptr<Waiting> waiting_;
};

// A new session whose client may have left meanwhile: it is closed unless the client takes it.
class NewSession {
 public:
  explicit NewSession(MasterHandler master) : master_(std::move(master)) {}
  NewSession(const NewSession&) = delete;
  NewSession& operator=(const NewSession&) = delete;
  ~NewSession() {
    if (handle_.empty()) return;
    try {
      master_(CloseSession{handle_}, [](const MasterReply&) {});
    } catch (const std::exception&) {  // without memory for the request the session stays open
    }
  }

  // A handler that asks the master for a session and keeps it in `made`. Empty without a master.
  static MasterHandler maker(const std::shared_ptr<NewSession>& made) {
    if (!made->master_) return {};
    return [made](MasterRequest request, MasterReplyFn reply) {
      made->master_(std::move(request), [made, reply = std::move(reply)](MasterReply answer) {
        if (answer.status.ok()) made->handle_ = answer.session;
        reply(std::move(answer));
      });
    };
  }
  std::string take() { return std::exchange(handle_, {}); }

 private:
  const MasterHandler master_;
  std::string handle_;
};

// The handler's answer, which may come at any time and from any thread.
kj::Promise<Reply> ask(RpcCore& core, const MasterHandler& handler, MasterRequest request) {
  if (!handler) return failed_reply({Code::unimplemented, "this task has no master"});
  core.loop.traffic();
  auto answer = kj::newPromiseAndFulfiller<Reply>();
  const auto waiting = std::make_shared<Waiting>();
  waiting->loop = &core.loop;
  waiting->fulfiller = kj::mv(answer.fulfiller);
  const auto gate = std::make_shared<ReplyGate>(waiting);
  const auto pass = [gate](MasterReply reply) { gate->pass(kj::heap<MasterReply>(std::move(reply))); };
  core.options.dispatch([&] { handler(std::move(request), pass); });
  return answer.promise.attach(kj::defer([waiting] {
    const std::lock_guard lock(waiting->mutex);
    waiting->loop = nullptr;
    waiting->fulfiller = nullptr;
  }));
}

class MasterService final : public wire::Master::Server {
 public:
  explicit MasterService(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  kj::Promise<void> createSession(CreateSessionContext context) override {
    const auto read = [&](TensorReader& tensors) -> MasterRequest {
      return CreateSession{read_graph(context.getParams().getGraph(), tensors, core().ops),
                           read_options(context.getParams().getOptions())};
    };
    const auto made = std::make_shared<NewSession>(master());
    const auto write = [this, made](const MasterReply& reply, auto results) {
      if (reply.status.ok() && connection_->open) connection_->sessions.insert(made->take());
      results.setSession(to_text(reply.session));
      results.setGraphVersion(reply.graph_version);
    };
    return answer(context, read, write, NewSession::maker(made));
  }

  kj::Promise<void> extendSession(ExtendSessionContext context) override {
    const auto read = [&](TensorReader& tensors) -> MasterRequest {
      const auto params = context.getParams();
      return ExtendSession{to_string(params.getSession()),
                           read_nodes(params.getNodes(), tensors, core().ops),
                           params.getCurrentVersion()};
    };
    return answer(context, read, [](const MasterReply& reply, auto results) {
      results.setGraphVersion(reply.graph_version);
    });
  }

  kj::Promise<void> runStep(RunStepContext context) override {
    return ask_master(context, [&](TensorReader& tensors) { return read_run_step(context, tensors); })
        .then([this, context](Reply reply) mutable { return write_step(*reply, context); });
  }

  kj::Promise<void> makeCallable(MakeCallableContext context) override {
    const auto read = [&](TensorReader&) -> MasterRequest {
      const auto params = context.getParams();
      return MakeCallable{to_string(params.getSession()), read_texts(params.getFeeds()),
                          read_texts(params.getFetches()), read_texts(params.getTargets())};
    };
    return answer(context, read,
                  [](const MasterReply& reply, auto results) { results.setCallable(reply.callable); });
  }

  kj::Promise<void> runCallable(RunCallableContext context) override {
    return ask_master(context,
                      [&](TensorReader& tensors) { return read_run_callable(context, tensors); })
        .then([this, context](Reply reply) mutable { return write_step(*reply, context); });
  }

  kj::Promise<void> releaseCallable(ReleaseCallableContext context) override {
    return answer(context, [&](TensorReader&) -> MasterRequest {
      return ReleaseCallable{to_string(context.getParams().getSession()),
                             context.getParams().getCallable()};
    });
  }

  kj::Promise<void> closeSession(CloseSessionContext context) override {
    connection_->sessions.erase(to_string(context.getParams().getSession()));
    return answer(context, [&](TensorReader&) -> MasterRequest {
      return CloseSession{to_string(context.getParams().getSession())};
    });
  }

  kj::Promise<void> listDevices(ListDevicesContext context) override {
    const auto read = [&](TensorReader&) -> MasterRequest {
      return ListDevices{to_string(context.getParams().getSession())};
    };
    return answer(context, read, [](const MasterReply& reply, auto results) {
      write_devices(reply.devices, results.initDevices(static_cast<unsigned>(reply.devices.size())));
    });
  }

  kj::Promise<void> placement(PlacementContext context) override {
    const auto read = [&](TensorReader&) -> MasterRequest {
      return DescribePlacement{to_string(context.getParams().getSession())};
    };
    return answer(context, read, [](const MasterReply& reply, auto results) {
      write_texts(reply.placement, results.initDevices(size(reply.placement)));
    });
  }

  kj::Promise<void> reset(ResetContext context) override {
    return answer(context, [&](TensorReader&) -> MasterRequest {
      return Reset{read_texts(context.getParams().getContainers()),
                   read_texts(context.getParams().getDeviceFilters())};
    });
  }

  kj::Promise<void> put(PutContext context) override {
    connection_->transfers.put(context.getParams().getChunk());
    return kj::READY_NOW;
  }
  kj::Promise<void> done(DoneContext) override { return kj::READY_NOW; }

 private:
  RpcCore& core() const { return connection_->server.core(); }
  const MasterHandler& master() const {
    KJ_REQUIRE(connection_->open, "the connection has been closed");
    return connection_->server.inbox().master;
  }

  // Answers the request that `read` takes from the parameters: with the status, and what `write` adds.
  template <class Context, class Read, class Write>
  kj::Promise<void> answer(Context& context, Read&& read, Write write) {
    return answer(context, read, write, master());
  }
  template <class Context, class Read, class Write>
  kj::Promise<void> answer(Context& context, Read&& read, Write write, const MasterHandler& master) {
    return ask_master(context, read, master).then([context, write](Reply reply) mutable {
      auto results = context.getResults();
      write_status(reply->status, results.initStatus());
      write(*reply, results);
    });
  }
  template <class Context, class Read>
  kj::Promise<void> answer(Context& context, Read&& read) {
    return answer(context, read, [](const MasterReply&, auto) {});
  }

  // The reply to the request that `read` takes from the parameters; a mistake there is the reply.
  template <class Context, class Read>
  kj::Promise<Reply> ask_master(Context& context, Read&& read) {
    return ask_master(context, read, master());
  }
  template <class Context, class Read>
  kj::Promise<Reply> ask_master(Context& context, Read&& read, const MasterHandler& master) {
    context.allowCancellation();
    TensorReader tensors(core().allocator, connection_->transfers);
    try {
      MasterRequest request = read(tensors);
      throw_if_error(tensors.refusal());
      return ask(core(), master, std::move(request));
    } catch (const Error& error) {  // may be the consequence of a refused tensor
      return failed_reply(tensors.refusal().ok() ? error.status() : tensors.refusal());
    }
  }

  static MasterRequest read_run_step(RunStepContext& context, TensorReader& tensors) {
    const auto params = context.getParams();
    RunStep step;
    step.session = to_string(params.getSession());
    for (const auto feed : params.getFeeds())
      step.feeds.emplace_back(to_string(feed.getName()), tensors.read(feed.getValue()));
    step.fetches = read_texts(params.getFetches());
    step.targets = read_texts(params.getTargets());
    step.timeout_ms = params.getTimeoutMs();
    step.epoch = params.getEpoch();
    step.trace = params.getTrace();
    return step;
  }

  static MasterRequest read_run_callable(RunCallableContext& context, TensorReader& tensors) {
    const auto params = context.getParams();
    RunCallable run;
    run.session = to_string(params.getSession());
    run.callable = params.getCallable();
    for (const auto feed : params.getFeeds()) run.feeds.push_back(tensors.read(feed));
    run.timeout_ms = params.getTimeoutMs();
    run.epoch = params.getEpoch();
    run.trace = params.getTrace();
    return run;
  }

  template <class Context>
  kj::Promise<void> write_step(const MasterReply& reply, Context& context) {
    KJ_REQUIRE(connection_->open, "the connection has been closed");
    const bool has_sink = context.getParams().hasSink();
    auto results = context.getResults();
    TensorWriter tensors(capnp::Orphanage::getForMessageContaining(results),
                         *connection_->rpc->stream.keeper(), connection_->rpc->next_transfer,
                         has_sink ? TensorLimits{} : only_inline);
    auto fetches = results.initFetches(static_cast<unsigned>(reply.fetches.size()));
    Status status = reply.status;
    try {
      for (unsigned i = 0; i < fetches.size(); ++i) tensors.write(reply.fetches[i], fetches[i]);
    } catch (const Error& error) {
      status = error.status();
      results.initFetches(0);
    }
    write_status(status, results.initStatus());
    write_node_traces(reply.trace.nodes,
                      results.initTrace(static_cast<unsigned>(reply.trace.nodes.size())));
    if (!has_sink) return kj::READY_NOW;
    return send_fetches(tensors.take_transfers(), context.getParams().getSink());
  }

  kj::Promise<void> send_fetches(std::vector<Transfer> transfers, wire::TensorSink::Client sink) {
    if (transfers.empty()) return kj::READY_NOW;
    return send_transfers(std::move(transfers), sink, connection_->rpc->stream.keeper())
        .then([sink]() mutable { return sink.doneRequest().send().ignoreResult(); });
  }

  std::shared_ptr<Connection> connection_;
};

}  // namespace

wire::Master::Client make_master_service(std::shared_ptr<Connection> connection) {
  return kj::heap<MasterService>(std::move(connection));
}

}  // namespace actorflow
