#include "apps/launch/run/elastic_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "apps/launch/run/job_lines.h"

namespace actorflow {
namespace {

std::string seconds(HostBook::Pause pause) {
  return fmt::format("{} s", std::chrono::duration<double>(pause).count());
}

}  // namespace

ElasticHosts::ElasticHosts(HostRules rules, const std::vector<LaunchHost>& first,
                           HostDiscovery& discovery, Keepers& keepers, const HostQuestions& questions,
                           Hands hands)
    : book_(rules),
      discovery_(discovery),
      keepers_(keepers),
      questions_(questions),
      hands_(std::move(hands)) {
  book_.listed(first);
  for (const auto& host : first) {
    names_.push_back(host.name);
    book_.answered(host.name, Clock::now());
  }
}

int ElasticHosts::number_of(const std::string& name) const {
  return static_cast<int>(std::ranges::find(names_, name) - names_.begin());
}

void ElasticHosts::follow() {
  if (auto hosts = discovery_.look()) {
    std::erase_if(said_, [&](const auto& each) {
      return std::ranges::find(*hosts, each.first, &LaunchHost::name) == hosts->end();
    });
    book_.listed(std::move(*hosts));
  }
  // What is carried out may fail, so that the book decides anew.
  for (auto orders = book_.decide(Clock::now()); !orders.empty(); orders = book_.decide(Clock::now()))
    for (const auto& order : orders) obey(order);
}

ElasticHosts::Clock::time_point ElasticHosts::next_look() const {
  return std::min(discovery_.next_look(), book_.next_look(Clock::now()));
}

void ElasticHosts::obey(const HostOrder& order) {
  using Kind = HostOrder::Kind;
  switch (order.kind) {
    case Kind::ask:
      return ask(book_.listing(order.host));
    case Kind::give_up:
      return give_up(number_of(order.host));
    case Kind::start:
      return start_on(number_of(order.host));
    case Kind::leave:
      return tell_to_leave(order.task, number_of(order.host));
  }
}

void ElasticHosts::ask(const LaunchHost& host) {
  try {
    const int number = hands_.connect(host);
    if (number == std::ssize(names_)) names_.push_back(host.name);
  } catch (const std::exception& error) {
    book_.failed(host.name, Clock::now());
    if (std::exchange(said_[host.name], error.what()) != error.what())
      hands_.say(fmt::format("{} is left out: {}", host.to_string(), error.what()));
  }
}

void ElasticHosts::give_up(int host) {
  fails(host, "is left out", silent_words(keepers_.words(host), book_.rules().answers_within));
  keepers_.kill(host);
}

void ElasticHosts::start_on(int host) {
  try {
    book_.started(name_of(host), hands_.start(host));
  } catch (const std::exception& error) {
    say_closing(book_.close(name_of(host), Clock::now()),
                fmt::format("a task cannot be started there: {}", error.what()));
  }
}

void ElasticHosts::tell_to_leave(int task, int host) {
  hands_.say(fmt::format("{} has no slot on {} any more, so it leaves", hands_.label(task),
                         keepers_.name(host)));
  hands_.tell_to_leave(task);
}

void ElasticHosts::ended(int task) {
  say_closing(book_.ended(task, Clock::now()), fmt::format("{} has ended there", hands_.label(task)));
}

void ElasticHosts::say_closing(const std::optional<HostBook::Closing>& closing,
                               const std::string& since) {
  if (!closing) return;
  const std::string& host = keepers_.name(number_of(closing->host));
  if (closing->pause)
    hands_.say(
        fmt::format("{} gets no new tasks for {}, since {}", host, seconds(*closing->pause), since));
  else
    hands_.say(fmt::format(
        "{} gets no new tasks, since {}; if that machine is sound, let the script of --host_discovery "
        "drop it and list it anew (--blacklist_cooldown_range 30,600 tries such machines again)",
        host, since));
}

void ElasticHosts::take(int host, const Frame& answer) {
  if (!book_.is_asked(name_of(host))) return;
  std::string mistake;
  try {
    mistake = mistake_in(host, answer);
  } catch (const std::exception& error) {
    mistake = error.what();
  }
  if (mistake.empty()) return;
  fails(host, "is left out", mistake);
  keepers_.send(host, {"end"});
}

std::string ElasticHosts::mistake_in(int host, const Frame& answer) {
  if (answer[0] == "hello") {
    const std::string mistake = questions_.version_mistake(answer);
    if (mistake.empty()) keepers_.send(host, questions_.probe(0));
    return mistake;
  }
  if (answer[0] != "probed" && answer[0] != "secured") return {};
  if (!answer.at(1).empty()) return answer.at(1);
  if (answer[0] == "probed" && questions_.has_credentials())
    keepers_.send(host, questions_.credentials_for({}));  // an elastic job's are the same for all hosts
  else
    make_ready(host);
  return {};
}

void ElasticHosts::make_ready(int host) {
  for (const auto& frame : questions_.job()) keepers_.send(host, frame);
  book_.answered(name_of(host), Clock::now());
  said_.erase(name_of(host));
}

void ElasticHosts::lost(int host, const std::string& why) {
  if (book_.is_ready(name_of(host))) fails(host, "is lost", why);
  if (book_.is_asked(name_of(host))) fails(host, "is left out", why);
}

void ElasticHosts::fails(int host, const char* how, const std::string& why) {
  const auto pause = book_.failed(name_of(host), Clock::now());
  if (std::exchange(said_[name_of(host)], why) == why) return;
  hands_.say(fmt::format(
      "{} {}: {}{}", keepers_.name(host), how, why,
      pause ? fmt::format("; it is tried again in {}, and then ever less often", seconds(*pause)) : ""));
}

}  // namespace actorflow
