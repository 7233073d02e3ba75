#include "schema/local_network.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "dataflow/values/error.h"
#include "schema/address.h"

namespace actorflow {
namespace {

// Runs callbacks one at a time, in order, on the threads that bring them: whoever finds it idle works
// until the queue is empty. What one throws keeps no other from being run; it then reaches the worker.
class Strand {
 public:
  void run(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    tasks_.push_back(std::move(task));
    if (runner_ != std::thread::id()) return;
    runner_ = std::this_thread::get_id();
    std::exception_ptr failure;
    while (!tasks_.empty()) {
      const auto next = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      try {
        next();
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
      lock.lock();
    }
    runner_ = {};
    idle_.notify_all();
    lock.unlock();
    if (failure) std::rethrow_exception(failure);
  }

  // Nothing runs after this, unless it is called from a task: that one ends.
  void close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    tasks_.clear();
    idle_.wait(lock,
               [this] { return runner_ == std::thread::id() || runner_ == std::this_thread::get_id(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  std::deque<std::function<void()>> tasks_;
  std::thread::id runner_;
  bool closed_ = false;
};

struct LinkEnd {
  explicit LinkEnd(LinkEvents callbacks) : events(std::move(callbacks)) {}
  const LinkEvents events;
  Strand strand;
};

// A listener's end: lives as long as anybody is linked to it.
class Port {
 public:
  Port(TaskIdentity self, Inbox inbox) : self_(std::move(self)), inbox_(std::move(inbox)) {}

  const TaskIdentity& self() const { return self_; }

  // False if it has closed.
  bool attach(const std::shared_ptr<LinkEnd>& link) {
    const std::lock_guard lock(mutex_);
    if (!closed_) links_.insert(link);
    return !closed_;
  }
  void detach(const std::shared_ptr<LinkEnd>& link, const TaskIdentity& from) {
    {
      const std::lock_guard lock(mutex_);
      links_.erase(link);
    }
    strand_.run([this, from] { inbox_.gone(from); });
  }
  void receive(const TaskIdentity& from, Message message) {
    strand_.run([this, from, message = std::move(message)]() mutable {
      inbox_.received(from, std::move(message));
    });
  }
  void close() {
    std::set<std::shared_ptr<LinkEnd>> links;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      links.swap(links_);
    }
    strand_.close();
    const Status status{Code::unavailable, "lost the connection to " + self_.name.to_string()};
    for (const auto& link : links) try {
        link->strand.run([link, status] { link->events.down(status); });
      } catch (...) {  // of one link's callback: the others must hear of it, too
      }
  }

 private:
  const TaskIdentity self_;
  const Inbox inbox_;
  Strand strand_;
  std::mutex mutex_;
  bool closed_ = false;  // guarded by mutex_
  std::set<std::shared_ptr<LinkEnd>> links_;
};

// Who listens where.
class Directory {
 public:
  std::string add(Address address, std::shared_ptr<Port> port) {
    const std::lock_guard lock(mutex_);
    while (address.port == 0) {
      address.port = next_port_++;
      if (ports_.contains(address.to_string())) address.port = 0;
    }
    if (!ports_.emplace(address.to_string(), std::move(port)).second)
      throw Error(Code::already_exists, "cannot listen on " + address.to_string() +
                                            ": the port is already in use; choose another port or 0");
    return address.to_string();
  }
  void remove(const std::string& address) {
    const std::lock_guard lock(mutex_);
    ports_.erase(address);
  }
  std::shared_ptr<Port> find(const std::string& address) {
    const std::lock_guard lock(mutex_);
    const auto found = ports_.find(address);
    return found == ports_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::uint16_t next_port_ = 1024;
  std::map<std::string, std::shared_ptr<Port>> ports_;
};

class LocalLink final : public Link {
 public:
  LocalLink(TaskIdentity self, std::shared_ptr<LinkEnd> end, std::shared_ptr<Port> port)
      : self_(std::move(self)), end_(std::move(end)), port_(std::move(port)) {}
  ~LocalLink() override {
    end_->strand.close();
    if (port_) port_->detach(end_, self_);
  }

  void send(Message message) override {
    if (port_) port_->receive(self_, std::move(message));
  }
  TensorPath tensor_path() const override { return TensorPath::in_process; }

 private:
  const TaskIdentity self_;
  const std::shared_ptr<LinkEnd> end_;
  const std::shared_ptr<Port> port_;  // null if there was nobody to link to
};

class LocalListener final : public Listener {
 public:
  LocalListener(std::shared_ptr<Directory> directory, std::string address, std::shared_ptr<Port> port)
      : directory_(std::move(directory)), address_(std::move(address)), port_(std::move(port)) {}
  ~LocalListener() override {
    directory_->remove(address_);
    port_->close();
  }

  const std::string& address() const override { return address_; }

 private:
  const std::shared_ptr<Directory> directory_;
  const std::string address_;
  const std::shared_ptr<Port> port_;
};

class LocalNetwork final : public Network {
 public:
  std::unique_ptr<Listener> listen(const std::string& address, const TaskIdentity& self,
                                   Inbox inbox) override {
    auto port = std::make_shared<Port>(self, std::move(inbox));
    std::string taken = directory_->add(Address::parse(address), port);
    return std::make_unique<LocalListener>(directory_, std::move(taken), std::move(port));
  }

  std::unique_ptr<Link> connect(const std::string& address, const TaskIdentity& self,
                                const TaskName& peer, LinkEvents events) override {
    auto end = std::make_shared<LinkEnd>(std::move(events));
    auto port = directory_->find(address);
    const Status status = check(address, peer, port.get());
    if (!status.ok() || !port->attach(end)) port = nullptr;
    // Perhaps on another thread, and later.
    end->strand.run([end, port, why = status.ok() ? nobody(address, peer) : status] {
      if (port)
        end->events.up(port->self());
      else
        end->events.down(why);
    });
    return std::make_unique<LocalLink>(self, std::move(end), std::move(port));
  }

 private:
  static Status nobody(const std::string& address, const TaskName& peer) {
    return {Code::unavailable,
            "cannot reach " + peer.to_string() + " at " + address + ": nobody listens there"};
  }
  static Status check(const std::string& address, const TaskName& peer, const Port* port) {
    if (!port) return nobody(address, peer);
    if (port->self().name == peer) return {};
    return {Code::failed_precondition, "expected " + peer.to_string() + " at " + address + ", but " +
                                           port->self().name.to_string() + " answers there"};
  }

  const std::shared_ptr<Directory> directory_ = std::make_shared<Directory>();
};

}  // namespace

std::unique_ptr<Network> make_local_network() { return std::make_unique<LocalNetwork>(); }

}  // namespace actorflow
