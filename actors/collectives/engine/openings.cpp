#include "actors/collectives/engine/openings.h"

namespace actorflow {

using namespace rank_messages;

bool Openings::add(const Sender& from, const Hello& hello) {
  Guest& guest = guests_[hello.group][from.task];
  if (guest.incarnation == from.incarnation && guest.attempt >= hello.attempt) return false;
  guest = {from.incarnation, hello.attempt, true, hello.members, hello.hosts};
  return true;
}

void Openings::remove(const Sender& from, const Goodbye& goodbye) {
  Guest& guest = guests_[goodbye.group][from.task];
  if (guest.incarnation == from.incarnation && guest.attempt <= goodbye.attempt)
    guest = {from.incarnation, goodbye.attempt, false, {}, {}};
}

void Openings::lose(const PeerLost& lost) {
  for (auto& [group, guests] : guests_)
    for (auto& [task, guest] : guests)
      if (lost.concerns({task, guest.incarnation})) guest.waits = false;
}

void Openings::answered(const std::string& group) {
  for (auto& [task, guest] : guests_[group]) guest.waits = false;
}

}  // namespace actorflow
