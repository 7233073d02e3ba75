// Questions to actors from threads that are not actors.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "actors/runtime/runtime.h"

namespace actorflow {

// Calls `ask_with` with a function for the answer, which any thread may call. Waits until that was
// called and its last copy is destroyed. Returns nothing if it was destroyed uncalled, because the actor
// has ended.
template <class Answer>
std::optional<Answer> ask(Runtime& runtime,
                          const std::function<void(std::function<void(Answer)>)>& ask_with) {
  // The client waits for its destruction, so objects that it refers to live long enough.
  struct Question {
    Question(Waker& c, std::optional<Answer>& a) : client(c), answer(a) {}
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    ~Question() { client.wake(); }

    Waker& client;
    std::optional<Answer>& answer;
  };
  std::optional<Answer> answer;
  runtime.wait([&](Waker& client) {
    auto question = std::make_shared<Question>(client, answer);
    ask_with([question](Answer value) { question->answer = std::move(value); });
  });
  return answer;
}

}  // namespace actorflow
