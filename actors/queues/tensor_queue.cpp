#include "actors/queues/tensor_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/core/task_context.h"
#include "actors/input/draw.h"
#include "actors/input/rows.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {

TensorQueue::TensorQueue(QueueSpec spec)
    : spec_(std::move(spec)), random_(engine_of(spec_.options.seed, 0)) {}

void TensorQueue::check_open() const {
  if (closed_) throw Error(Code::cancelled, fmt::format("{} is closed", spec_.to_string()));
}

void TensorQueue::enqueue(const Asker& asker, Tuple element) {
  check_open();
  if (!fits(element, spec_.options.components))
    throw invalid_argument(
        fmt::format("{} was given an element of {}", spec_.to_string(), describe(element)));
  enqueues_.push_back({asker, std::move(element)});
  advance();
}

void TensorQueue::enqueue_many(const Asker& asker, Tuple columns) {
  check_open();
  const std::int64_t rows = rows_of(columns);
  if (rows == 0) return complete(asker.reply_to, {});
  if (!fits(row_of(columns, 0), spec_.options.components))
    throw invalid_argument(
        fmt::format("{} was given elements in rows of {}", spec_.to_string(), describe(columns)));
  enqueues_.push_back({asker, std::move(columns), rows});
  advance();
}

void TensorQueue::dequeue(const Asker& asker) {
  dequeues_.push_back({asker});
  advance();
}

void TensorQueue::dequeue_many(const Asker& asker, std::int64_t count, bool fewer) {
  dequeues_.push_back({asker, count, true, fewer});
  advance();
}

void TensorQueue::close(bool cancel_pending_enqueues) {
  closed_ = true;
  if (cancel_pending_enqueues) {
    for (const auto& waiting : enqueues_)
      fail(waiting.asker.reply_to,
           {Code::cancelled, fmt::format("{} was closed, and what waited to be put in was cancelled",
                                         spec_.to_string())});
    enqueues_.clear();
  }
  advance();
}

void TensorQueue::give_up(StepId step) {
  drop([step](const Asker& asker) { return asker.reply_to.step == step; });
}

void TensorQueue::fence(FencingEpoch epoch, const Status& reason) {
  drop([&](const Asker& asker) {
    if (asker.epoch == 0 || asker.epoch >= epoch) return false;
    fail(asker.reply_to, reason);
    return true;
  });
}

void TensorQueue::drop(const std::function<bool(const Asker&)>& which) {
  std::erase_if(enqueues_, [&which](const Enqueue& waiting) { return which(waiting.asker); });
  std::erase_if(dequeues_, [this, &which](Dequeue& waiting) {
    if (!which(waiting.asker)) return false;
    put_back(waiting.taken);
    return true;
  });
  advance();
}

void TensorQueue::abandon(const Status& reason) const {
  for (const auto& waiting : enqueues_) fail(waiting.asker.reply_to, reason);
  for (const auto& waiting : dequeues_) fail(waiting.asker.reply_to, reason);
}

std::string TensorQueue::waiting() const {
  if (enqueues_.empty() && dequeues_.empty()) return {};
  std::string text = fmt::format("{} has {} elements", spec_.to_string(), size());
  if (!enqueues_.empty()) text += fmt::format("; {} enqueues wait for room", enqueues_.size());
  if (!dequeues_.empty())
    text += fmt::format("; {} dequeues wait for elements, the first for {} more", dequeues_.size(),
                        dequeues_.front().count - std::ssize(dequeues_.front().taken));
  return text;
}

void TensorQueue::advance() {
  while (take_in() || hand_out()) {
  }
}

bool TensorQueue::take_in() {
  if (enqueues_.empty() || size() >= spec_.options.capacity) return false;
  Enqueue& first = enqueues_.front();
  try {
    elements_.push_back(first.rows == 0 ? std::move(first.values) : row_of(first.values, first.next));
    if (++first.next < first.rows) return true;
    complete(first.asker.reply_to, {});
  } catch (...) {
    fail(first.asker.reply_to, current_exception_status());
  }
  enqueues_.pop_front();
  ++served_;
  return true;
}

bool TensorQueue::hand_out() {
  if (dequeues_.empty()) return false;
  Dequeue& first = dequeues_.front();
  try {
    const Handed handed = hand_out(first);
    if (handed != Handed::all) return handed == Handed::an_element;
  } catch (...) {
    put_back(first.taken);
    fail(first.asker.reply_to, current_exception_status());
  }
  dequeues_.pop_front();
  ++served_;
  return true;
}

TensorQueue::Handed TensorQueue::hand_out(Dequeue& first) {
  if (available() > 0) {
    first.taken.emplace_back();
    first.taken.back() = draw();
    if (std::ssize(first.taken) < first.count) return Handed::an_element;
    finish(first);
  } else if (!closed_ || !enqueues_.empty()) {
    return Handed::nothing;
  } else if (first.fewer && !first.taken.empty()) {
    finish(first);
  } else {
    refuse(first);
  }
  return Handed::all;
}

std::int64_t TensorQueue::available() const {
  return closed_ ? size() : size() - spec_.options.min_after_dequeue;
}

Tuple TensorQueue::draw() {
  if (spec_.kind == QueueKind::random_shuffle)
    std::swap(elements_.front(),
              elements_[draw_below(random_, static_cast<std::uint32_t>(elements_.size()))]);
  Tuple element = std::move(elements_.front());
  elements_.pop_front();
  return element;
}

void TensorQueue::finish(Dequeue& first) {
  if (!first.stacked) return complete(first.asker.reply_to, first.taken.front());
  const bool pads = spec_.kind == QueueKind::padding_fifo;
  complete(first.asker.reply_to, pads ? stack_padded(first.taken) : stack(first.taken));
}

void TensorQueue::refuse(Dequeue& first) {
  put_back(first.taken);
  fail(first.asker.reply_to,
       {Code::out_of_range, fmt::format("{} is closed and has {} elements, but {} are "
                                        "wanted",
                                        spec_.to_string(), size(), first.count)});
}

void TensorQueue::put_back(std::vector<Tuple>& elements) {
  elements_.insert(elements_.begin(), std::make_move_iterator(elements.begin()),
                   std::make_move_iterator(elements.end()));
  elements.clear();
}

}  // namespace actorflow
