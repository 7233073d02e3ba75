#include "dataflow/ops/update_attrs.h"

#include "dataflow/graph/op_attrs.h"
#include "dataflow/ops/optimizer.h"

namespace actorflow {

std::vector<AttrDef> update_attrs() {
  return {required_state("variable"), required_text("optimizer"),
          required("hyperparameters", std::vector<double>()), required("skip_not_finite", false)};
}

void expect_gradient(const InferContext& c, int input) {
  if (!is_float32_or_64(c.input(input).dtype))
    c.fail("a gradient of float32 or float64", c.input(input).to_string());
}

void expect_optimizer(const InferContext& c) {
  try {
    parse_optimizer(c.attr<std::string>("optimizer"), c.attr<std::vector<double>>("hyperparameters"));
  } catch (const Error& error) {
    c.fail("an optimizer and its hyperparameters", std::string("an error: ") + error.what());
  }
}

void expect_update(const InferContext& c) {
  expect_variable(c);
  expect_optimizer(c);
}

void expect_learning_rate(const InferContext& c, int input) {
  if (!is_float32_or_64(c.input(input).dtype))
    c.fail("a learning rate of float32 or float64", c.input(input).to_string());
  c.expect_rank(input, 0);
}

void expect_rows(const InferContext& c, int first) {
  expect_gradient(c, first);
  c.expect_dtype(first + 1, DType::int64);
  c.expect_rank(first + 1, 1);
  const Shape &values = c.input(first).shape, &indices = c.input(first + 1).shape;
  if (!values.has_rank()) return;
  if (values.rank() == 0) c.fail("rows of a gradient", c.input(first).to_string());
  if (values[0] != Shape::unknown && indices.has_rank() && indices[0] != Shape::unknown &&
      values[0] != indices[0])
    c.fail("an index for each row",
           c.input(first).to_string() + " and " + c.input(first + 1).to_string());
}

}  // namespace actorflow
