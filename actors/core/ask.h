// How a thread that is no actor asks one and waits for the answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "actors/runtime/runtime.h"

namespace actorflow {

// Calls `ask_with` with a function that takes the answer, from any thread, and waits until that was called and
// its last copy is gone; where it goes uncalled, because whoever should have answered has ended, there is no
// answer.
template <class Answer>
std::optional<Answer> ask(Runtime& runtime,
                          const std::function<void(std::function<void(Answer)>)>& ask_with) {
  // The client waits for its end, so what it refers to lives long enough.
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
