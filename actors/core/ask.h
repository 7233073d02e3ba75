// Questions to actors from threads that are not actors.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
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

// The same for what may take long: `report` is called with the time since the question, after 2 s and
// then every 10 s.
template <class Answer>
std::optional<Answer> ask(Runtime& runtime,
                          const std::function<void(std::function<void(Answer)>)>& ask_with,
                          const std::function<void(std::chrono::seconds)>& report) {
  using namespace std::chrono_literals;
  struct Asked {
    std::mutex mutex;
    std::optional<Answer> answer;
    bool over = false;
    Waker* client = nullptr;  // null: not now

    void meet(Waker& waker) {
      const std::lock_guard lock(mutex);
      over ? waker.wake() : void(client = &waker);
    }
    void leave() {
      const std::lock_guard lock(mutex);
      client = nullptr;
    }
  };
  struct Question {
    explicit Question(std::shared_ptr<Asked> to) : asked(std::move(to)) {}
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    ~Question() {
      const std::lock_guard lock(asked->mutex);
      asked->over = true;
      if (asked->client) asked->client->wake();
    }

    std::shared_ptr<Asked> asked;
  };
  const auto asked = std::make_shared<Asked>();
  const auto began = runtime.clock().now();
  auto end = began + 2s;
  bool is_asked = false;
  const auto begin = [&](Waker& waker) {
    asked->meet(waker);
    if (std::exchange(is_asked, true)) return;
    auto question = std::make_shared<Question>(asked);
    ask_with([question](Answer value) { question->asked->answer = std::move(value); });
  };
  try {
    while (!runtime.wait_until(end, begin, [&](Waker&) { asked->leave(); })) {
      report(std::chrono::duration_cast<std::chrono::seconds>(runtime.clock().now() - began));
      end += 10s;
    }
  } catch (...) {
    asked->leave();
    throw;
  }
  return std::move(asked->answer);
}

}  // namespace actorflow
