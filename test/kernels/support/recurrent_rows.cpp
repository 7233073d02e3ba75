// Devices only: the suite "recurrent" checks the values.
#include "test/kernels/support/recurrent_rows.h"

namespace actorflow::test {
namespace {

constexpr std::int64_t steps = 4, batch = 19, units = 5;

Input sequence(std::int64_t times) { return {DType::float32, {steps, batch, times * units}, -1, 1}; }

// The same with a mask, half of which is false.
void add_rows(std::vector<OpRow>& rows, std::string_view op, const std::vector<Input>& inputs) {
  auto masked = inputs;
  masked.push_back({DType::boolean, {steps, batch}, -1, 1});
  rows.push_back({op, "", inputs, {}, {}});
  rows.push_back({op, "masked", masked, {}, {}});
  rows.push_back({op, "backwards", inputs, {{"backwards", true}}, {}});
  rows.push_back({op, "relu", inputs, {{"activation", std::string("relu")}}, {}});
}

}  // namespace

std::vector<OpRow> recurrent_rows() {
  const auto weights = [](std::int64_t gates) {
    return Input{DType::float32, {units, gates * units}, -1, 1};
  };
  const Input biases{DType::float32, {3 * units}, -1, 1};
  std::vector<OpRow> rows;
  add_rows(rows, "SimpleRnn", {sequence(1), weights(1)});
  add_rows(rows, "SimpleRnnGrad", {sequence(1), weights(1), sequence(1)});
  add_rows(rows, "Lstm", {sequence(4), weights(4)});
  add_rows(rows, "LstmGrad", {sequence(1), weights(4), sequence(1), sequence(5)});
  add_rows(rows, "Gru", {sequence(3), weights(3), biases});
  add_rows(rows, "GruGrad", {sequence(1), weights(3), sequence(1), sequence(4)});
  return rows;
}

}  // namespace actorflow::test
