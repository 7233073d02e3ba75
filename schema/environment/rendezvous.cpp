#include "schema/environment/rendezvous.h"

#include <capnp/rpc-twoparty.h>

#include <chrono>
#include <future>
#include <utility>

#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"
#include "schema/codec/message_codec.h"
#include "schema/environment/meeting.h"
#include "schema/io/block_signals.h"
#include "schema/io/guarded_stream.h"
#include "schema/rendezvous.capnp.h"

namespace actorflow {
namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::vector<std::string>;

constexpr auto notice_after = 1'500 * kj::MILLISECONDS;
constexpr auto step_limit = 3 * kj::SECONDS;  // for connecting, and for being let in
constexpr auto retry_after = 50 * kj::MILLISECONDS;
// Rank 0 says whom it misses before the others give up by themselves.
constexpr std::int64_t later_than_rank_0_ms = 5'000;

std::string seconds(std::int64_t ms) { return std::to_string((ms + 999) / 1000) + " s"; }

bool is_loopback(const std::string& host) {
  return host.starts_with("127.") || host == "localhost" || host == "::1";
}

ListenSocket listen(const LaunchedRank& self) {
  const bool ipv6 = self.host.find(':') != std::string::npos;
  const std::string anywhere = ipv6 ? "::" : "0.0.0.0";
  Code last_code = Code::invalid_argument;  // of a rank without ports
  std::string failures;
  for (const auto port : self.ports) try {
      const std::string host = is_loopback(self.host) ? self.host : anywhere;
      return listen_on({host, port}, Reach::everyone);
    } catch (const Error& error) {
      failures += (failures.empty() ? "" : "; ") + std::string(error.what());
      last_code = error.code();
    }
  throw Error(last_code, "rank 0 has no port where the other ranks could meet it: " + failures +
                             "; set MASTER_PORT to a free one for all ranks");
}

// What both ends have.
class Ends {
 public:
  Ends(kj::AsyncIoContext& io, const LaunchedRank& self, std::uint16_t port,
       const RendezvousOptions& options)
      : io_(io), self_(self), port_(port), options_(options) {}

 protected:
  kj::Timer& timer() { return io_.provider->getTimer(); }
  std::string where() const {
    const auto text_of = [](std::uint16_t port) { return std::to_string(port); };
    return self_.host + ":" + joined(self_.ports, " or ", text_of);
  }
  std::string who() const {
    return "rank " + std::to_string(self_.rank) + " of " + std::to_string(self_.size) + " (" +
           self_.launcher + ")";
  }

  kj::AsyncIoContext& io_;
  const LaunchedRank& self_;
  const std::uint16_t port_;
  const RendezvousOptions& options_;
};

class Host : private Ends {
 public:
  using Ends::Ends;

  Addresses run() {
    Meeting meeting(io_, self_, port_, listen(self_));
    auto notice = timer().afterDelay(notice_after).then([&] {
      options_.on_wait(who() + " waits for " + meeting.missing() + " at " + where());
    });
    auto noticing = notice.eagerlyEvaluate(nullptr);
    auto late = timer().afterDelay(options_.limit_ms * kj::MILLISECONDS).then([&] {
      meeting.give_up(seconds(options_.limit_ms));
    });
    meeting.over().exclusiveJoin(kj::mv(late)).wait(io_.waitScope);
    noticing = nullptr;
    // Who hangs on to its connection after the answer, such as a stopped process, keeps nobody.
    meeting.all_gone().exclusiveJoin(timer().afterDelay(step_limit)).wait(io_.waitScope);
    throw_if_error(meeting.status());
    return meeting.addresses();
  }
};

class Caller : private Ends {
 public:
  using Ends::Ends;

  Addresses run() {
    const auto deadline =
        Clock::now() + std::chrono::milliseconds(options_.limit_ms + later_than_rank_0_ms);
    auto noticing = timer()
                        .afterDelay(notice_after)
                        .then([this] { options_.on_wait(who() + " waits for " + waits_for_); })
                        .eagerlyEvaluate(nullptr);
    while (Clock::now() < deadline) {
      for (const auto port : self_.ports)
        if (auto addresses = try_to_join(port, deadline); !addresses.empty()) return addresses;
      timer().afterDelay(retry_after).wait(io_.waitScope);
    }
    throw Error(Code::deadline_exceeded,
                who() + " has waited " + seconds(options_.limit_ms) + " for " + waits_for_ + ": " +
                    last_failure_ +
                    "; has rank 0 been started, and can this machine reach its machine?");
  }

 private:
  // Empty, with `last_failure_`, if nobody of this job is there or the connection ends.
  Addresses try_to_join(std::uint16_t port, Clock::time_point deadline) {
    Addresses addresses;
    Status status;
    waits_for_ = "rank 0 at " + where();
    KJ_IF_MAYBE (exception, kj::runCatchingExceptions([&] {
                   auto io = connect(port);
                   status = join(kj::mv(io), deadline, addresses);
                 }))
      last_failure_ = exception->getDescription().cStr();
    if (status.code == Code::not_found) last_failure_ = status.message;
    if (!status.ok() && status.code != Code::not_found) throw Error(status);
    return addresses;
  }

  kj::Own<kj::AsyncIoStream> connect(std::uint16_t port) {
    const std::string address = Address{self_.host, port}.to_string();
    auto connected = io_.provider->getNetwork()
                         .parseAddress(address.c_str())
                         .then([](kj::Own<kj::NetworkAddress> found) {
                           auto stream = found->connect();
                           return stream.attach(kj::mv(found));
                         });
    return timer().timeoutAfter(step_limit, kj::mv(connected)).wait(io_.waitScope);
  }

  Status join(kj::Own<kj::AsyncIoStream> socket, Clock::time_point deadline, Addresses& addresses) {
    GuardedStream stream(kj::mv(socket), true);
    capnp::TwoPartyVatNetwork network(stream, capnp::rpc::twoparty::Side::CLIENT);
    auto system = capnp::makeRpcClient(network);
    capnp::MallocMessageBuilder message(8);
    auto server = message.initRoot<capnp::rpc::twoparty::VatId>();
    server.setSide(capnp::rpc::twoparty::Side::SERVER);
    auto request = system.bootstrap(server).castAs<wire::Rendezvous>().enterRequest();
    request.setJob(self_.job);
    auto entered = timer().timeoutAfter(step_limit, request.send()).wait(io_.waitScope);
    const Status refusal = read_status(entered.getStatus());
    if (!refusal.ok()) return refusal;
    waits_for_ = "the other ranks, which meet at " + where();
    return sit_down(entered.getMeeting(), deadline, addresses);
  }

  Status sit_down(wire::Meeting::Client meeting, Clock::time_point deadline, Addresses& addresses) {
    auto request = meeting.joinRequest();
    request.setRank(static_cast<std::uint32_t>(self_.rank));
    request.setSize(static_cast<std::uint32_t>(self_.size));
    request.setParameterServers(static_cast<std::uint32_t>(self_.parameter_servers));
    request.setPort(port_);
    const auto left_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    auto answer = timer().timeoutAfter(left_ms * kj::MILLISECONDS, request.send()).wait(io_.waitScope);
    for (const auto address : answer.getAddresses()) addresses.emplace_back(address.cStr());
    return read_status(answer.getStatus());
  }

  std::string waits_for_, last_failure_ = "nobody is there";
};

// On a thread of its own: the caller's may have an event loop.
Addresses meet_here(const LaunchedRank& self, std::uint16_t port, const RendezvousOptions& options) {
  block_signals();
  auto io = kj::setupAsyncIo();
  if (self.rank == 0) return Host(io, self, port, options).run();
  return Caller(io, self, port, options).run();
}

}  // namespace

std::vector<std::string> meet(const LaunchedRank& self, std::uint16_t port,
                              const RendezvousOptions& options) {
  return std::async(std::launch::async, [&] { return meet_here(self, port, options); }).get();
}

}  // namespace actorflow
