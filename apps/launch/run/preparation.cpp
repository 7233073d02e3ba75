#include "apps/launch/run/preparation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/launch/run/job_lines.h"

namespace actorflow {

Preparation::Preparation(Keepers& keepers, const HostQuestions& questions, JobProgress& tasks,
                         JobAddresses& addresses, Hands hands)
    : keepers_(keepers),
      questions_(questions),
      tasks_(tasks),
      addresses_(addresses),
      hands_(std::move(hands)),
      end_(Clock::now() + limit) {}

void Preparation::run() {
  greet();
  if (!hands_.is_interrupted()) probe();
  if (!hands_.is_interrupted()) check_reachable();
  if (!hands_.is_interrupted() && questions_.has_credentials()) hand_out_credentials();
}

void Preparation::greet() {
  ask_all({}, "hello", "to start actorflow",
          [this](const Frame& hello) { return questions_.version_mistake(hello); });
}

void Preparation::probe() {
  std::vector<int> ports(static_cast<std::size_t>(keepers_.size()));
  for (const auto& task : tasks_.tasks())
    ports[static_cast<std::size_t>(task.host)] += task.is_served() + task.is_first_rank();
  std::vector<Frame> questions;
  for (const int count : ports) questions.push_back(questions_.probe(count));
  const auto answers = ask_all(questions, "probed", "to look for folders, the program and free ports",
                               [](const Frame& probed) { return probed.at(1); });
  if (hands_.is_interrupted()) return;
  for (int host = 0; host < keepers_.size(); ++host)
    take_ports(host, answers[static_cast<std::size_t>(host)]);
}

void Preparation::take_ports(int host, const Frame& probed) {
  std::size_t next = 2;
  for (std::size_t i = 0; i < tasks_.tasks().size(); ++i) {
    const auto& task = tasks_.tasks()[i];
    if (task.host != host) continue;
    if (task.is_served()) tasks_.set_port(static_cast<int>(i), std::stoi(probed.at(next++)));
    if (task.is_first_rank()) addresses_.master_port = std::stoi(probed.at(next++));
  }
}

void Preparation::check_reachable() {
  if (keepers_.size() == 1) return;
  Frame question{"reach"};
  std::vector<bool> seen(static_cast<std::size_t>(keepers_.size()));
  for (const auto& task : tasks_.tasks()) {
    const auto host = static_cast<std::size_t>(task.host);
    if (task.port == 0 || seen[host]) continue;
    seen[host] = true;
    question.push_back(address_of(addresses_.hosts[host], task.port));
  }
  ask_all(Answers(seen.size(), question), "reached", "to reach the others",
          [](const Frame& reached) { return reached.at(1); });
}

void Preparation::hand_out_credentials() {
  std::vector<Frame> questions;
  for (int host = 0; host < keepers_.size(); ++host)
    questions.push_back(questions_.credentials_for(tasks_of(host)));
  ask_all(questions, "secured", "to take credentials",
          [](const Frame& secured) { return secured.at(1); });
}

Preparation::Answers Preparation::ask_all(const std::vector<Frame>& questions, const std::string& answer,
                                          const char* what, const Mistake& mistake) {
  Answers answers(static_cast<std::size_t>(keepers_.size()));
  std::vector<std::string> mistakes(answers.size());
  const auto is_open = [&](std::size_t host) { return answers[host].empty() && mistakes[host].empty(); };
  const auto open_hosts = [&] {
    std::vector<std::string> names;
    for (std::size_t host = 0; host < answers.size(); ++host)
      if (is_open(host)) names.push_back(keepers_.name(static_cast<int>(host)));
    return names;
  };
  for (std::size_t host = 0; host < questions.size(); ++host)
    keepers_.send(static_cast<int>(host), questions[host]);
  for (auto open = open_hosts(); !open.empty() && Clock::now() < end_; open = open_hosts()) {
    if (report_.is_due()) hands_.say(waiting_words(open, what));
    for (const auto& [host, frame] : hands_.wait(std::min(end_, report_.next()))) {
      const auto at = static_cast<std::size_t>(host);
      if (frame.empty()) mistakes[at] = lost_words(keepers_.words(host));
      if (frame.empty() || frame[0] != answer) continue;
      answers[at] = frame;
      mistakes[at] = mistake(frame);
    }
    if (hands_.is_interrupted()) return answers;
  }
  for (std::size_t host = 0; host < answers.size(); ++host)
    if (is_open(host)) mistakes[host] = silent_words(keepers_.words(static_cast<int>(host)), limit);
  throw_mistakes(keepers_, mistakes);
  return answers;
}

std::vector<LaunchedTask> Preparation::tasks_of(int host) const {
  std::vector<LaunchedTask> own;
  std::ranges::copy_if(tasks_.tasks(), std::back_inserter(own),
                       [host](const LaunchedTask& task) { return task.host == host; });
  return own;
}

}  // namespace actorflow
