#include "schema/environment/meeting.h"

#include <capnp/rpc-twoparty.h>

#include <algorithm>
#include <utility>

#include "schema/codec/message_codec.h"
#include "schema/io/guarded_stream.h"
#include "schema/rendezvous.capnp.h"

namespace actorflow {
namespace {

// So many more than the ranks may be connected: strangers, or ranks that come again.
constexpr std::size_t more_connections = 64;
constexpr auto patience_with_strangers = 10 * kj::SECONDS;

constexpr auto socket_flags = kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP |
                              kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC |
                              kj::LowLevelAsyncIoProvider::ALREADY_NONBLOCK;

std::string host_of(kj::AsyncIoStream& socket, void (kj::AsyncIoStream::*end)(sockaddr*, kj::uint*)) {
  sockaddr_storage address{};
  kj::uint size = sizeof address;
  (socket.*end)(reinterpret_cast<sockaddr*>(&address), &size);
  return Address::of(address).host;
}

std::string differs(const std::string& what, const RankIntroduction& theirs, int their_number,
                    int our_number) {
  return "rank " + std::to_string(theirs.rank) + " says that the job has " +
         std::to_string(their_number) + " " + what + ", but rank 0 says " + std::to_string(our_number) +
         "; start all ranks by one command, with the same environment";
}

}  // namespace

// A connection.
struct Meeting::Visitor {
  Visitor(kj::Own<kj::AsyncIoStream> socket, kj::Own<Entrance> entrance);

  const std::string host, our_host;  // the addresses of both ends
  bool is_of_this_job = false;
  GuardedStream stream;
  capnp::TwoPartyVatNetwork network;
  capnp::RpcSystem<capnp::rpc::twoparty::VatId> system;
};

class Meeting::Table final : public wire::Meeting::Server {
 public:
  Table(Meeting& meeting, std::uint64_t visitor) : meeting_(meeting), visitor_(visitor) {}

  kj::Promise<void> join(JoinContext context) override {
    const auto said = context.getParams();
    const Status status =
        meeting_.sit_down(visitor_, {static_cast<int>(said.getRank()), static_cast<int>(said.getSize()),
                                     static_cast<int>(said.getParameterServers()), said.getPort()});
    if (!status.ok()) {
      write_status(status, context.getResults().initStatus());
      return kj::READY_NOW;
    }
    return meeting_.over().then([this, context]() mutable {
      write_status(meeting_.status(), context.getResults().initStatus());
      const auto& addresses = meeting_.addresses();
      auto list = context.getResults().initAddresses(static_cast<unsigned>(addresses.size()));
      for (unsigned i = 0; i < list.size(); ++i) list.set(i, addresses[i]);
    });
  }

 private:
  Meeting& meeting_;
  const std::uint64_t visitor_;
};

class Meeting::Entrance final : public wire::Rendezvous::Server {
 public:
  Entrance(Meeting& meeting, std::uint64_t visitor) : meeting_(meeting), visitor_(visitor) {}

  kj::Promise<void> enter(EnterContext context) override {
    auto results = context.getResults();
    const auto visitor = meeting_.visitors_.find(visitor_);
    if (context.getParams().getJob() != meeting_.self_.job || visitor == meeting_.visitors_.end()) {
      write_status({Code::not_found, "the ranks of another job meet here"}, results.initStatus());
      return kj::READY_NOW;
    }
    visitor->second->is_of_this_job = true;
    results.setMeeting(kj::heap<Table>(meeting_, visitor_));
    return kj::READY_NOW;
  }

 private:
  Meeting& meeting_;
  const std::uint64_t visitor_;
};

Meeting::Visitor::Visitor(kj::Own<kj::AsyncIoStream> socket, kj::Own<Entrance> entrance)
    : host(host_of(*socket, &kj::AsyncIoStream::getpeername)),
      our_host(host_of(*socket, &kj::AsyncIoStream::getsockname)),
      stream(kj::mv(socket), false),
      network(stream, capnp::rpc::twoparty::Side::SERVER),
      system(capnp::makeRpcServer(network, wire::Rendezvous::Client(kj::mv(entrance)))) {}

Meeting::Meeting(kj::AsyncIoContext& io, const LaunchedRank& self, std::uint16_t port,
                 const ListenSocket& socket)
    : io_(io),
      self_(self),
      port_(port),
      receiver_(io.lowLevelProvider->wrapListenSocketFd(socket.fd, socket_flags)),
      over_(nullptr),
      tasks_(*this) {
  auto over = kj::newPromiseAndFulfiller<void>();
  end_ = kj::mv(over.fulfiller);
  over_ = over.promise.fork();
  tasks_.add(accept());
}

Meeting::~Meeting() = default;

kj::Promise<void> Meeting::accept() {
  return receiver_->accept().then(
      [this](kj::Own<kj::AsyncIoStream> socket) {
        admit(kj::mv(socket));
        return accept();
      },
      [this](kj::Exception&&) {  // such as no descriptors
        return io_.provider->getTimer().afterDelay(100 * kj::MILLISECONDS).then([this] {
          return accept();
        });
      });
}

void Meeting::admit(kj::Own<kj::AsyncIoStream> socket) {
  if (visitors_.size() >= static_cast<std::size_t>(self_.size) + more_connections) return;
  const std::uint64_t id = next_visitor_++;
  auto visitor = kj::heap<Visitor>(kj::mv(socket), kj::heap<Entrance>(*this, id));
  tasks_.add(visitor->network.onDisconnect().then([this, id] { drop(id); }));
  tasks_.add(io_.provider->getTimer().afterDelay(patience_with_strangers).then([this, id] {
    const auto found = visitors_.find(id);
    if (found != visitors_.end() && !found->second->is_of_this_job) drop(id);
  }));
  visitors_.emplace(id, kj::mv(visitor));
}

// A rank whose connection has ended may come again, unless the meeting is over.
void Meeting::drop(std::uint64_t visitor) {
  const auto found = visitors_.find(visitor);
  if (found == visitors_.end()) return;
  if (!is_over_) std::erase_if(seats_, [&](const auto& seat) { return seat.second.visitor == visitor; });
  // Not now: its own promise may be running.
  tasks_.add(kj::evalLast([gone = kj::mv(found->second)]() mutable { gone = nullptr; }));
  visitors_.erase(found);
  if (visitors_.empty() && empty_.get() != nullptr) empty_->fulfill();
}

Status Meeting::sit_down(std::uint64_t visitor, const RankIntroduction& rank) {
  if (is_over_) return {Code::failed_precondition, "the meeting of the ranks is over"};
  if (rank.size != self_.size) {
    end({Code::invalid_argument, differs("ranks", rank, rank.size, self_.size)});
  } else if (rank.parameter_servers != self_.parameter_servers) {
    end({Code::invalid_argument, differs("parameter servers (ACTORFLOW_PS)", rank,
                                         rank.parameter_servers, self_.parameter_servers)});
  } else if (rank.rank < 0 || rank.rank >= self_.size || rank.port == 0) {
    return {Code::invalid_argument, "there is no rank " + std::to_string(rank.rank)};
  } else if (rank.rank == 0 || seats_.contains(rank.rank)) {
    return {
        Code::already_exists,
        "another process of this job has rank " + std::to_string(rank.rank) +
            "; each rank is one process. Did the launcher start two jobs with the same MASTER_PORT?"};
  } else {
    seats_[rank.rank] = {visitor, rank.port};
    if (seats_.size() + 1 == static_cast<std::size_t>(self_.size)) end({});
  }
  return {};
}

void Meeting::give_up(const std::string& after) {
  end({Code::deadline_exceeded,
       missing() + " did not come to the meeting of rank 0 within " + after +
           "; have they been started, with the same MASTER_ADDR and MASTER_PORT, "
           "and can their machines reach rank 0's?"});
}

void Meeting::end(Status status) {
  if (is_over_) return;
  is_over_ = true;
  status_ = std::move(status);
  if (status_.ok()) addresses_ = addresses_of_all();
  end_->fulfill();
}

// A rank on our own machine came by an address that may be of no use to others; they use the one at
// which we were reached from outside.
std::vector<std::string> Meeting::addresses_of_all() const {
  const auto visitor_of = [this](const Seat& seat) -> const Visitor& {
    return *visitors_.at(seat.visitor);
  };
  const auto is_here = [&](const auto& entry) {
    return visitor_of(entry.second).host == visitor_of(entry.second).our_host;
  };
  const auto outside = std::ranges::find_if_not(seats_, is_here);
  const std::string here = outside == seats_.end() ? "127.0.0.1" : visitor_of(outside->second).our_host;
  std::vector<std::string> all{Address{here, port_}.to_string()};
  for (const auto& entry : seats_) {
    const std::string& host = is_here(entry) ? here : visitor_of(entry.second).host;
    all.push_back(Address{host, entry.second.port}.to_string());
  }
  return all;
}

kj::Promise<void> Meeting::all_gone() {
  std::erase_if(visitors_, [](const auto& entry) { return !entry.second->is_of_this_job; });
  if (visitors_.empty()) return kj::READY_NOW;
  auto empty = kj::newPromiseAndFulfiller<void>();
  empty_ = kj::mv(empty.fulfiller);
  return kj::mv(empty.promise);
}

std::string Meeting::missing() const {
  std::string list;
  for (int rank = 1, named = 0; rank < self_.size; ++rank) {
    if (seats_.contains(rank)) continue;
    if (++named > 16) return "ranks " + list + ", ... of " + std::to_string(self_.size);
    list += (list.empty() ? "" : ", ") + std::to_string(rank);
  }
  return (list.find(',') == std::string::npos ? "rank " : "ranks ") + list + " of " +
         std::to_string(self_.size);
}

}  // namespace actorflow
