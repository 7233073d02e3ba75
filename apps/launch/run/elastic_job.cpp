#include "apps/launch/run/elastic_job.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "schema/environment/elastic_words.h"

namespace actorflow {
namespace {

constexpr std::chrono::milliseconds look_interval{100};

WorldRules rules_of(const JobSpec& job) {
  return {.min = job.min_workers.value_or(1),
          .max = job.max_workers.value_or(job.workers),
          .reset_limit = job.reset_limit,
          .patience = std::chrono::seconds(job.elastic_timeout_s)};
}

}  // namespace

ElasticJob::ElasticJob(const JobSpec& job, Hands hands)
    : hands_(std::move(hands)), book_(rules_of(job), hands_.label) {}

void ElasticJob::take(int task, std::string_view bytes) {
  words_[task].add(bytes, [&](std::string_view line) { hear(task, line); });
}

void ElasticJob::hear(int task, std::string_view line) {
  const auto request = parse_request(line);
  if (!request) return;  // not a request that our tasks make
  switch (request->kind) {
    case ElasticRequest::Kind::join:
      ports_[task] = request->port;
      return book_.joins(task, request->epoch, request->step);
    case ElasticRequest::Kind::heard:
      return book_.heard(task, request->epoch);
    case ElasticRequest::Kind::leave:
      return book_.leaves(task);
  }
}

// A member that ends well unasked has seen the end of training.
bool ElasticJob::ended(int task, int status, bool was_asked) {
  const auto& members = book_.world().members;
  const bool left = book_.is_leaving(task);
  const bool is_member = std::ranges::find(members, task) != members.end();
  if (status == 0 && !left && !was_asked && is_member) book_.complete();
  book_.gone(task);
  words_.erase(task);
  return left || (book_.is_complete() && (status == 0 || !is_member));
}

void ElasticJob::follow_book() {
  for (const auto& order : book_.decide(Clock::now())) obey(order);
}

void ElasticJob::obey(const WorldOrder& order) {
  using Kind = WorldOrder::Kind;
  const auto tell = [&](ElasticNews::Kind kind) {
    ElasticNews news{.kind = kind, .why = order.text};
    news.world.epoch = book_.world().epoch;
    hands_.tell(order.task, to_line(news));
  };
  switch (order.kind) {
    case Kind::give:
      hands_.takes_part(order.task);
      return hands_.tell(order.task, world_for(order.task));
    case Kind::change:
      return tell(ElasticNews::Kind::change);
    case Kind::over:
      return tell(ElasticNews::Kind::over);
    case Kind::end:
      return tell(ElasticNews::Kind::end);
    case Kind::kill:
      return hands_.signal(order.task, SIGKILL);
    case Kind::say:
      return hands_.say(order.text);
    case Kind::end_job:
      return hands_.fail(order.text);
  }
}

std::string ElasticJob::world_for(int task) const {
  const LaunchedWorld& world = book_.world();
  ElasticNews news;
  news.world.epoch = world.epoch;
  for (const int member : world.members) {
    if (member == task) news.world.rank = static_cast<int>(news.world.addresses.size());
    news.world.addresses.push_back(hands_.address(member, ports_.at(member)));
  }
  return to_line(news);
}

ElasticJob::Clock::time_point ElasticJob::next_look() const {
  return book_.is_waiting() ? Clock::now() + look_interval : Clock::time_point::max();
}

}  // namespace actorflow
