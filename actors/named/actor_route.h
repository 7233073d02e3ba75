// What an ActorRef refers to. For this folder only.
#pragma once

#include <memory>

#include "actors/named/client_caller.h"
#include "actors/named/outgoing_streams.h"
#include "actors/named/send_window.h"

namespace actorflow::detail {

struct ActorRoute {
  ActorAddress to;
  std::shared_ptr<CallerDoor> door;
  std::shared_ptr<SendWindow> window;
  std::weak_ptr<Runtime> runtime;
};

}  // namespace actorflow::detail
