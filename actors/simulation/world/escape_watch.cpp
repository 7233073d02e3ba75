#include "actors/simulation/world/escape_watch.h"

namespace actorflow {

EscapeWatch::EscapeWatch() {
  if (works()) actorflow_watch_escapes(true);
}

EscapeWatch::~EscapeWatch() {
  if (works()) actorflow_watch_escapes(false);
}

std::string EscapeWatch::take() { return works() ? actorflow_take_escape() : ""; }

bool EscapeWatch::works() { return actorflow_watch_escapes != nullptr; }

}  // namespace actorflow
