// Questions to actors from threads that are not actors.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "actors/runtime/runtime.h"
#include "actors/runtime/thread_unit.h"

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

// A question whose answer is waited for later. For one thread, but for the function that answers.
template <class Answer>
class PendingAnswer {
 public:
  // Asks: calls `ask_with` as ask() does. Never within an actor.
  explicit PendingAnswer(const std::function<void(std::function<void(Answer)>)>& ask_with) {
    const SystemVisit visit;
    auto question = std::make_shared<Question>(asked_);
    ask_with([question](Answer value) { question->asked->answer = std::move(value); });
  }

  // Waits until the function was called and its last copy is destroyed. `report` is called with the time
  // waited, after 2 s and then every 10 s. Returns nothing if the function was destroyed uncalled,
  // because the actor has ended. Once, or again where it has thrown.
  std::optional<Answer> wait(Runtime& runtime, const std::function<void(std::chrono::seconds)>& report) {
    using namespace std::chrono_literals;
    if (asked_->is_over()) return std::move(asked_->answer);
    const auto meet = [this](Waker& waker) { asked_->meet(waker); };
    const auto leave = [this](Waker&) { asked_->leave(); };
    const auto began = runtime.clock().now();
    auto end = began + 2s;
    try {
      while (!runtime.wait_until(end, meet, leave)) {
        report(std::chrono::duration_cast<std::chrono::seconds>(runtime.clock().now() - began));
        end += 10s;
      }
    } catch (...) {
      asked_->leave();
      throw;
    }
    return std::move(asked_->answer);
  }

 private:
  struct Asked {
    std::mutex mutex;
    std::optional<Answer> answer;
    bool over = false;
    Waker* client = nullptr;  // null: not now

    bool is_over() {
      const std::lock_guard lock(mutex);
      return over;
    }
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

  std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();
};

}  // namespace actorflow
