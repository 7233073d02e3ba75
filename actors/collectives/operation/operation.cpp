#include "actors/collectives/operation/operation.h"

#include <fmt/format.h>

#include <cstring>
#include <numeric>

#include "dataflow/values/borrowed_buffer.h"
#include "dataflow/values/check.h"

namespace actorflow {
namespace {

using Kind = CollectiveKind;

std::int64_t product(std::span<const std::int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>{});
}

Bytes bytes_of(const Tensor& tensor, std::size_t begin, std::size_t size) {
  return {static_cast<const std::byte*>(tensor.data()) + begin, size};
}

// The dimensions of a row: what is cut and put together are rows.
std::span<const std::int64_t> row_dims(const CollectiveCall& call) {
  const std::span<const std::int64_t> dims = call.dims;
  if (call.kind == Kind::all_gather || call.kind == Kind::all_to_all) return dims;
  return call.kind == Kind::reduce_scatter ? dims.subspan(1) : std::span<const std::int64_t>();
}

}  // namespace

Operation::Operation(TaskRef task, SchedulePlan plan, int rank, CollectiveCall call, RankInput own)
    : task_(std::move(task)),
      plan_(std::move(plan)),
      rank_(rank),
      call_(std::move(call)),
      work_{"the collective operation " + call_.to_string(), task_->self.name.to_string()},
      steps_(make_schedule(plan_, rank)) {
  if (plan_.kind == Kind::barrier) return;
  row_bytes_ = static_cast<std::size_t>(product(row_dims(call_))) * call_.element_bytes();
  if (plan_.kind == Kind::reduce_scatter)
    total_rows_ = call_.dims[0];
  else
    total_rows_ = product(call_.dims);
  const Computing computing(work_);
  own.tensor = outgoing(call_, std::move(own.tensor), task_->sending_device->allocator(), task_->team);
  take_own(own);
}

// An all-reduce cuts where memory is aligned: such a slice is sent from where it lies.
std::int64_t Operation::begin_of_slice(int slice) const {
  const auto unit = plan_.kind == Kind::all_reduce
                        ? static_cast<std::int64_t>(buffer_alignment / call_.element_bytes())
                        : 1;
  const std::int64_t units = (total_rows_ + unit - 1) / unit;
  return std::min(total_rows_, slice_begin(units, slices_of(plan_), slice) * unit);
}

// Slices of gathers and all-to-alls have the rows that their rank says.
std::int64_t Operation::rows_of_slice(int slice) const {
  if (plan_.kind == Kind::reduce_scatter && !call_.splits.empty())
    return call_.splits[static_cast<std::size_t>(slice)];
  return begin_of_slice(slice + 1) - begin_of_slice(slice);
}

std::size_t Operation::row_bytes(const Piece& piece) const {
  if (!is_unfinished(piece, plan_.ranks)) return row_bytes_;
  return row_bytes_ / call_.element_bytes() * unfinished_bytes(call_);
}

void Operation::take_own(const RankInput& own) {
  std::size_t at = 0, split = 0;
  for (const Piece& piece : contributions(plan_, rank_)) {
    std::int64_t rows = 0;
    if (plan_.kind == Kind::all_gather)
      rows = own.tensor.shape()[0];
    else
      rows = plan_.kind == Kind::all_to_all ? own.splits[split++] : rows_of_slice(piece.slice);
    const std::size_t size = static_cast<std::size_t>(rows) * row_bytes_;
    held_[piece] = {own.tensor, bytes_of(own.tensor, at, size), rows};
    at += size;
  }
}

bool Operation::advance(const Send& send_to, const Reduce& reduce) {
  for (; next_ < steps_.size(); ++next_) {
    const ScheduleStep& step = steps_[next_];
    switch (step.action) {
      case ScheduleStep::Action::send:
        send(step, send_to);
        break;
      case ScheduleStep::Action::receive:
        if (!receive(step)) return false;
        break;
      case ScheduleStep::Action::add:
        add(step, reduce);
        break;
    }
  }
  return true;
}

void Operation::send(const ScheduleStep& step, const Send& send_to) {
  std::vector<std::int64_t> rows;
  std::size_t bytes = 0;
  for (const Piece& piece : step.pieces) {
    rows.push_back(held_.at(piece).rows);
    bytes += held_.at(piece).bytes.size();
  }
  send_to(step.peer, sent_[step.peer]++, std::move(rows), packed(step.pieces, bytes));
}

// In one piece of memory.
bool Operation::follow_each_other(const std::vector<Piece>& pieces) const {
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const Held &before = held_.at(pieces[i - 1]), &here = held_.at(pieces[i]);
    if (before.owner.buffer().get() != here.owner.buffer().get()) return false;
    if (before.bytes.data() + before.bytes.size() != here.bytes.data()) return false;
  }
  return true;
}

// Copies what does not lie together.
Tensor Operation::packed(const std::vector<Piece>& pieces, std::size_t bytes) const {
  if (bytes == 0) return {};
  if (!follow_each_other(pieces)) return copied(pieces, bytes);
  const Held& piece = held_.at(pieces.front());
  BufferRef buffer = piece.owner.buffer();
  const auto begin = piece.bytes.data() - static_cast<const std::byte*>(buffer->data());
  if (begin > 0) buffer = part_of(std::move(buffer), static_cast<std::size_t>(begin), bytes);
  return Tensor(DType::uint8, {static_cast<std::int64_t>(bytes)}, std::move(buffer));
}

// Where the network need not copy it.
Tensor Operation::allocate(std::size_t bytes) const {
  return Tensor::allocate(DType::uint8, {static_cast<std::int64_t>(bytes)},
                          task_->sending_device->allocator());
}

Tensor Operation::copied(const std::vector<Piece>& pieces, std::size_t bytes) const {
  Tensor all = allocate(bytes);
  auto* to = static_cast<std::byte*>(all.mutable_data());
  for (const Piece& piece : pieces) {
    const Bytes from = held_.at(piece).bytes;
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
    to += from.size();
  }
  return all;
}

void Operation::receive(int from, std::uint32_t number, std::vector<std::int64_t> rows, Tensor payload) {
  const auto taken = received_.find(from);
  if (taken != received_.end() && number < taken->second) return;
  waiting_.try_emplace({from, number}, Message{std::move(rows), std::move(payload)});
}

bool Operation::receive(const ScheduleStep& step) {
  auto& number = received_[step.peer];
  const auto message = waiting_.extract({step.peer, number});
  if (message.empty()) return false;
  unpack(step, message.mapped());
  ++number;
  return true;
}

bool Operation::needs(int rank) const {
  const auto taken = received_.find(rank);
  std::uint32_t number = taken == received_.end() ? 0 : taken->second;
  for (std::size_t i = next_; i < steps_.size(); ++i)
    if (steps_[i].action == ScheduleStep::Action::receive && steps_[i].peer == rank)
      if (!waiting_.contains({rank, number++})) return true;
  return false;
}

void Operation::unpack(const ScheduleStep& step, const Message& message) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < step.pieces.size(); ++i) {
    const Piece& piece = step.pieces[i];
    const std::size_t one = row_bytes(piece);
    const std::int64_t rows = i < message.rows.size() ? message.rows[i] : -1;
    const std::size_t size = static_cast<std::size_t>(rows) * one;
    const std::size_t there = message.payload.valid() ? message.payload.size_bytes() : 0;
    if (rows < 0 || (one > 0 && static_cast<std::size_t>(rows) > (there - at) / one))
      throw Error(Code::data_loss, fmt::format("rank {} has sent {} bytes for {} rows of {} bytes",
                                               step.peer, there, rows, one));
    Held& held = held_[piece] = {message.payload, bytes_of(message.payload, at, size), rows, true};
    if (is_in_place(piece)) put_in_place(held, piece.slice);
    at += size;
  }
}

void Operation::add(const ScheduleStep& step, const Reduce& reduce) {
  std::vector<Bytes> parts;
  for (const Piece& piece : step.pieces) parts.push_back(held_.at(piece).bytes);
  const std::int64_t rows = held_.at(step.pieces[0]).rows;
  for (const Piece& piece : step.pieces)
    if (held_.at(piece).rows != rows)
      throw Error(Code::data_loss, fmt::format("a slice has {} rows on one rank and {} on another", rows,
                                               held_.at(piece).rows));
  const Piece result{step.pieces[0].slice, 0, step.pieces.back().last};
  const SumStage stage{.continues = is_unfinished(step.pieces[0], plan_.ranks),
                       .ranks = is_unfinished(result, plan_.ranks) ? 0 : plan_.ranks};
  Tensor sum;
  std::span<std::byte> out;
  if (is_in_place(result)) {
    out = place_of_sum(result.slice);
    sum = sums_;
  } else {
    const std::size_t bytes = static_cast<std::size_t>(rows) * row_bytes(result);
    sum = allocate(bytes);
    out = {static_cast<std::byte*>(sum.mutable_data()), bytes};
  }
  const Computing computing(work_);
  reduce(call_, parts, stage, out, task_->team);
  for (const Piece& piece : step.pieces) held_.erase(piece);
  held_[result] = {std::move(sum), out, rows};
}

// Whether it is a part of the result as it stands.
bool Operation::is_in_place(const Piece& sum) const {
  return plan_.kind == Kind::all_reduce && sum.first == 0 && sum.last + 1 == plan_.ranks;
}

std::span<std::byte> Operation::place_of_sum(int slice) {
  if (!sums_.valid()) sums_ = allocate(static_cast<std::size_t>(total_rows_) * row_bytes_);
  const std::span all(static_cast<std::byte*>(sums_.mutable_data()), sums_.size_bytes());
  return all.subspan(static_cast<std::size_t>(begin_of_slice(slice)) * row_bytes_,
                     static_cast<std::size_t>(rows_of_slice(slice)) * row_bytes_);
}

void Operation::put_in_place(Held& sum, int slice) {
  const std::span<std::byte> place = place_of_sum(slice);
  if (sum.bytes.size() != place.size())
    throw Error(Code::data_loss, fmt::format("the sum of a slice has {} bytes, expected {}",
                                             sum.bytes.size(), place.size()));
  if (!place.empty()) std::memcpy(place.data(), sum.bytes.data(), place.size());
  sum = {sums_, place, sum.rows};
}

std::vector<std::int64_t> Operation::result_dims(std::int64_t rows) const {
  if (plan_.kind == Kind::all_reduce || plan_.kind == Kind::broadcast) return call_.dims;
  const auto inner = row_dims(call_);
  std::vector<std::int64_t> dims{rows};
  dims.insert(dims.end(), inner.begin(), inner.end());
  return dims;
}

Tensor Operation::expanded(const std::vector<Piece>& pieces, const Shape& shape) const {
  Tensor all = Tensor::allocate(call_.dtype, shape);
  std::span out{static_cast<std::byte*>(all.mutable_data()), all.size_bytes()};
  const Computing computing(work_);
  const std::size_t growth = size_of(call_.dtype) / call_.element_bytes();
  for (const Piece& piece : pieces) {
    const Bytes from = held_.at(piece).bytes;
    expand(from, out.first(growth * from.size()), task_->team);
    out = out.subspan(growth * from.size());
  }
  return all;
}

CollectiveResult Operation::take_result() {
  ACTORFLOW_CHECK(next_ == steps_.size(), call_.to_string(), "is at", next_, "of", steps_.size());
  CollectiveResult result;
  const std::vector<Piece> pieces = results(plan_, rank_);
  if (pieces.empty()) return result;
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) {
    result.rows.push_back(held_.at(piece).rows);
    bytes += held_.at(piece).bytes.size();
  }
  const auto rows = std::accumulate(result.rows.begin(), result.rows.end(), std::int64_t{0});
  const Shape shape{std::span<const std::int64_t>(result_dims(rows))};
  if (bytes == 0) {
    result.tensor = Tensor::allocate(call_.dtype, shape);
    return result;
  }
  const bool is_whole = plan_.kind == Kind::all_reduce || plan_.kind == Kind::broadcast;
  if (is_whole && bytes != static_cast<std::size_t>(total_rows_) * row_bytes_)
    throw Error(Code::data_loss,
                fmt::format("the parts of {} have {} bytes, expected {}", call_.to_string(), bytes,
                            static_cast<std::size_t>(total_rows_) * row_bytes_));
  if (call_.compression != ReduceCompression::none) {
    result.tensor = expanded(pieces, shape);
    return result;
  }
  // What a broadcast has brought is lent, too.
  const bool lent = held_.at(pieces.front()).from_network;
  const Tensor all = plan_.kind == Kind::all_reduce ? sums_
                     : lent                         ? copied(pieces, bytes)
                                                    : packed(pieces, bytes);
  result.tensor = Tensor(call_.dtype, shape, all.buffer());
  return result;
}

}  // namespace actorflow
