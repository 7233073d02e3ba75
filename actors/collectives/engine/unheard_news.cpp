#include "actors/collectives/engine/unheard_news.h"

#include <utility>

namespace actorflow {

std::uint64_t UnheardNews::number_for(const Sender& to) {
  const auto lost = lost_.find(to.task);
  if (lost != lost_.end() && lost->second == to.incarnation) return 0;
  unheard_.emplace(++last_number_, to);
  return last_number_;
}

void UnheardNews::heard(const Sender& by, std::uint64_t number) {
  const auto news = unheard_.find(number);
  if (news != unheard_.end() && news->second.task == by.task) unheard_.erase(news);
  answer_if_heard();
}

void UnheardNews::lose(const PeerLost& lost) {
  if (lost.incarnation != 0) lost_[lost.task] = lost.incarnation;
  std::erase_if(unheard_, [&](const auto& news) { return lost.concerns(news.second); });
  answer_if_heard();
}

void UnheardNews::give_up() {
  unheard_.clear();
  answer_if_heard();
}

void UnheardNews::when_heard(std::function<void(bool)> reply) {
  replies_.push_back(std::move(reply));
  answer_if_heard();
}

void UnheardNews::answer_if_heard() {
  if (!all_heard()) return;
  for (const auto& reply : std::exchange(replies_, {})) reply(true);
}

}  // namespace actorflow
