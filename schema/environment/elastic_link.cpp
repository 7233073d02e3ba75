#include "schema/environment/elastic_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "dataflow/values/error.h"
#include "schema/io/block_signals.h"

namespace actorflow {
namespace {

constexpr std::size_t most_bytes_of_line = 4 << 20;
constexpr auto look_interval = std::chrono::milliseconds(50);  // for an interrupt

std::string_view text_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

FileDescriptor socket_of_process() {
  const int number = static_cast<int>(number_of_launcher(elastic_descriptor_variable));
  struct stat file {};
  if (number <= STDERR_FILENO || fstat(number, &file) != 0 || !S_ISSOCK(file.st_mode) ||
      file.st_ino != number_of_launcher(elastic_socket_variable))
    throw Error(Code::failed_precondition,
                "the socket to the launcher of this elastic job is not open: what actorflow launch "
                "starts must be the program itself, or must leave descriptor " +
                    std::to_string(number) + " open for it");
  fcntl(number, F_SETFD, FD_CLOEXEC);
  return FileDescriptor(number);
}

}  // namespace

std::uint64_t number_of_launcher(const char* variable, std::uint64_t most) {
  const std::string_view text = text_of(variable);
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && number <= most)
    return number;
  throw invalid_argument("the environment variable " + std::string(variable) + " is '" +
                         std::string(text) +
                         "', but expected is a number, which actorflow launch --min sets");
}

bool is_elastic_task() { return !text_of(elastic_descriptor_variable).empty(); }

ElasticLink::ElasticLink(FileDescriptor socket)
    : socket_(std::move(socket)), reader_([this] { read_lines(); }) {}

ElasticLink::~ElasticLink() {
  shutdown(socket_.get(), SHUT_RD);
  reader_.join();
}

std::shared_ptr<ElasticLink> ElasticLink::of_process() {
  static const auto link = std::make_shared<ElasticLink>(socket_of_process());
  return link;
}

std::optional<ElasticWorld> ElasticLink::next_world(std::int64_t step, std::uint16_t port,
                                                    const std::atomic<bool>& interrupted) {
  std::unique_lock lock(mutex_);
  say({.kind = ElasticRequest::Kind::join, .epoch = epoch_, .step = step, .port = port});
  while (!next_ && !ended_ && !gone_ && !interrupted) changed_.wait_for(lock, look_interval);
  if (next_) return std::exchange(next_, std::nullopt);
  if (gone_ && !ended_ && !interrupted)
    throw Error(Code::unavailable, "the launcher of this elastic job is gone");
  return std::nullopt;
}

std::string ElasticLink::why() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

void ElasticLink::on_over(std::function<void()> action) {
  const std::lock_guard calling(calling_);
  action_ = std::move(action);
  if (action_ && over_) action_();
}

void ElasticLink::leave() { say({.kind = ElasticRequest::Kind::leave}); }

// A launcher that does not read is gone, or will hear of this task's end.
void ElasticLink::say(const ElasticRequest& request) {
  const std::string line = to_line(request);
  [[maybe_unused]] const auto ignored = send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL);
}

void ElasticLink::read_lines() {
  block_signals();
  std::string bytes;
  std::array<char, 4096> part{};
  while (bytes.size() < most_bytes_of_line) {
    const ssize_t size = recv(socket_.get(), part.data(), part.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    bytes.append(part.data(), static_cast<std::size_t>(size));
    for (auto end = bytes.find('\n'); end != std::string::npos; end = bytes.find('\n')) {
      if (const auto news = parse_news(std::string_view(bytes).substr(0, end))) take(*news);
      bytes.erase(0, end + 1);
    }
  }
  const std::lock_guard lock(mutex_);
  gone_ = true;
  changed_.notify_all();
}

void ElasticLink::take(const ElasticNews& news) {
  using Kind = ElasticNews::Kind;
  const std::lock_guard calling(calling_);
  {
    const std::lock_guard lock(mutex_);
    if (news.kind == Kind::world) {
      next_ = news.world;
      epoch_ = news.world.epoch;
      change_ = over_ = false;
    }
    ended_ = ended_ || news.kind == Kind::end;
    if (!news.why.empty()) why_ = news.why;
    changed_.notify_all();
    if (news.kind == Kind::end || news.world.epoch != epoch_) return;
    change_ = change_ || news.kind != Kind::world;
    over_ = over_ || news.kind == Kind::over;
  }
  say({.kind = ElasticRequest::Kind::heard, .epoch = news.world.epoch});
  if (over_ && action_) action_();
}

}  // namespace actorflow
