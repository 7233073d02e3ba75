#include "schema/rpc/master_client.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "dataflow/values/bounded_wait.h"
#include "schema/address.h"
#include "schema/codec/message_codec.h"
#include "schema/rpc/master_caller.h"
#include "schema/rpc/rpc_core.h"

namespace actorflow {
namespace {

using Clock = std::chrono::steady_clock;

using OnWait = std::function<void(const std::string& why)>;

constexpr std::int64_t retry_ms = 100;
constexpr std::chrono::seconds quiet_wait{2};

}  // namespace

struct MasterClient::Impl {
  Impl(const std::string& master_address, Allocator& memory, const std::string& credentials,
       std::int64_t silence_ms)
      : address(Address::parse(master_address).to_string()),
        allocator(memory),
        silence_timeout_ms(silence_ms) {
    security.tls = KeyRing(credentials, [](const std::string&) {}).context({});
  }
  ~Impl() {
    loop.run([this] {
      calls = nullptr;
      caller = nullptr;
      rpc = nullptr;
    });
  }

  void connect(std::int64_t timeout_ms, const OnWait& on_wait);
  Status no_connection(const Status& why) const {
    return {why.code, "no connection to the master at " + address + ": " + why.message};
  }
  kj::Promise<void> try_to_connect(Clock::time_point deadline);
  kj::Promise<void> watch();
  void lose(std::string why);
  void start(const MasterRequest& request, const std::shared_ptr<std::promise<MasterReply>>& answer);

  struct IgnoreErrors final : kj::TaskSet::ErrorHandler {
    void taskFailed(kj::Exception&&) override {}
  };

  const std::string address;
  Allocator& allocator;
  const std::int64_t silence_timeout_ms;
  CallSecurity security;
  IgnoreErrors ignore_errors;  // every call reports its own
  IoLoop loop{[](const std::string&) {}};
  kj::Own<RpcEnd> rpc;  // from here on of the loop's thread
  kj::Own<MasterCaller> caller;
  kj::Own<kj::TaskSet> calls;
  Status refusal;
  std::string last_failure = "no answer";
  std::string lost;  // why this client has hung up; "" if it has not
};

MasterClient::MasterClient(const std::string& address, Allocator& allocator,
                           std::int64_t connect_timeout_ms, const std::string& credentials,
                           std::int64_t silence_timeout_ms, const OnWait& on_wait)
    : impl_(std::make_unique<Impl>(address, allocator, credentials, silence_timeout_ms)) {
  impl_->connect(connect_timeout_ms, on_wait);
}

MasterClient::~MasterClient() = default;

void MasterClient::Impl::connect(std::int64_t timeout_ms, const OnWait& on_wait) {
  const auto finished = std::make_shared<std::promise<void>>();
  const auto deadline = Clock::now() + bounded_wait(std::chrono::milliseconds(timeout_ms));
  loop.run([&] {
    calls = kj::heap<kj::TaskSet>(ignore_errors);
    calls->add(try_to_connect(deadline).then([finished] { finished->set_value(); },
                                             [this, finished](kj::Exception&& exception) {
                                               refusal = no_connection(status_of(exception));
                                               finished->set_value();
                                             }));
  });
  const auto future = finished->get_future();
  if (on_wait && future.wait_for(quiet_wait) == std::future_status::timeout) {
    std::string why;
    loop.run([&] { why = last_failure; });
    on_wait(why);
  }
  future.wait();
  if (!security.refusal->empty())
    throw_if_error(no_connection({Code::permission_denied, *security.refusal}));
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
  auto opened = call_task(loop, address, security)
                    .then([this](kj::Own<RpcEnd> end) {
                      rpc = kj::mv(end);
                      auto request = rpc->task().masterRequest();
                      request.setProtocolVersion(wire::PROTOCOL_VERSION);
                      return request.send();
                    })
                    .then([this](capnp::Response<wire::Task::MasterResults> results) {
                      refusal = read_status(results.getStatus());
                      if (!refusal.ok()) return;
                      caller = kj::heap<MasterCaller>(results.getMaster(), *rpc, allocator);
                      calls->add(watch());
                    });
  return loop.timer()
      .timeoutAfter(left_ms * kj::MILLISECONDS, kj::mv(opened))
      .catch_([this, deadline](kj::Exception&& exception) {
        if (!security.refusal->empty()) return kj::Promise<void>(kj::READY_NOW);
        const bool late = exception.getType() == kj::Exception::Type::OVERLOADED;
        if (!late) last_failure = exception.getDescription().cStr();
        return loop.timer().afterDelay(retry_ms * kj::MILLISECONDS).then([this, deadline] {
          return try_to_connect(deadline);
        });
      });
}

// Asks the task regularly whether it is there. Its network's thread answers, however long its steps
// take.
kj::Promise<void> MasterClient::Impl::watch() {
  const auto third = silence_timeout_ms * kj::MILLISECONDS / 3;
  return loop.timer()
      .afterDelay(third)
      .then([this, third] {
        return loop.timer().timeoutAfter(2 * third, rpc->task().statusRequest().send().ignoreResult());
      })
      .then([this] { return watch(); },
            [this](kj::Exception&& exception) -> kj::Promise<void> {
              if (exception.getType() == kj::Exception::Type::OVERLOADED)
                lose("it has answered nothing for " + std::to_string(silence_timeout_ms) +
                     " ms: it is stopped or cut off");
              return kj::READY_NOW;
            });
}

// Calls under way end with the connection.
void MasterClient::Impl::lose(std::string why) {
  lost = std::move(why);
  rpc = nullptr;
}

void MasterClient::Impl::start(const MasterRequest& request,
                               const std::shared_ptr<std::promise<MasterReply>>& answer) {
  const auto unavailable = [this](const std::string& why) {
    return Status{Code::unavailable, "lost the connection to the master at " + address + ": " + why};
  };
  if (!lost.empty()) return answer->set_value({.status = unavailable(lost)});
  try {
    calls->add(
        caller->call(request)
            .catch_([this, unavailable](kj::Exception&& exception) {
              return failure(unavailable(lost.empty() ? exception.getDescription().cStr() : lost));
            })
            .then([answer](kj::Own<MasterReply> reply) { answer->set_value(std::move(*reply)); }));
  } catch (...) {
    answer->set_value({.status = current_writing_status()});
  }
}

MasterReply MasterClient::call(const MasterRequest& request) {
  auto answer = std::make_shared<std::promise<MasterReply>>();
  auto future = answer->get_future();
  // Only the loop holds the promise from here on: if it drops it unanswered, the future throws.
  impl_->loop.post(
      [&impl = *impl_, &request, answer = std::move(answer)] { impl.start(request, answer); });
  try {
    return future.get();
  } catch (const std::future_error&) {
    return {.status = {Code::unavailable, "the client was closed during the call"}};
  }
}

}  // namespace actorflow
