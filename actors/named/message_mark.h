// What users' actors say in ActorMessage::type about a message: "ask/7 Get{string}".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace actorflow {

// Messages of one actor, or of the threads of one task, to another actor are a stream: they are numbered
// (ActorMessage::request), from the stream's own number on. After a loss a new stream begins.
struct MessageMark {
  enum class Kind {
    tell,   // handled in the order of numbers, once
    ask,    // the same; answered by a reply
    reply,  // the answer to that request: a struct, or the error in ActorMessage::status; for a tell
            // errors only
    done,   // everything up to that request has been handled, though perhaps not answered
    probe,  // asks for `done`
  };
  Kind kind = Kind::tell;
  std::uint64_t stream = 0;
  std::string type;  // of the struct; empty if there is none

  std::string to_string() const;
  // Nothing if the text is no mark.
  static std::optional<MessageMark> parse(std::string_view text);
};

}  // namespace actorflow
