// Nodes of ONNX models: what they compute where their inputs say so, and those that are not imported.
#include <array>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "actors/import/imported_node.h"
#include "actors/import/onnx_import.h"
#include "test/actors/support/onnx_models.h"

BOOST_AUTO_TEST_SUITE(onnx_import_nodes)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Ints = std::vector<std::int64_t>;

// Nodes as nobody would write them: any operator with any inputs and attributes.
class AnyModel {
 public:
  explicit AnyModel(std::uint32_t seed) : random_(seed) {}

  OnnxModel make() {
    OnnxModel model = model_of({});
    model.inputs = {{"x", DType::float32, shape()}};
    for (const char* name : {"a", "b", "c"}) model.initializers[name] = tensor();
    model.nodes.push_back({"n", operators()[below(operators().size())], inputs(), {"y"}, attrs()});
    return model;
  }

 private:
  static const std::vector<std::string>& operators() {
    static const std::vector<std::string> all = [] {
      std::vector<std::string> names{"Constant"};
      for (const auto& family : {elementwise_imports(), shape_imports(), layer_imports()})
        for (const auto& entry : family) names.emplace_back(entry.first);
      return names;
    }();
    return all;
  }
  std::size_t below(std::size_t end) { return random_() % end; }
  std::int64_t integer() {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                           most = std::numeric_limits<std::int64_t>::max();
    static constexpr std::array<std::int64_t, 14> some{
        0, 1, 2, 3, 4, -1, -2, -3, 1 << 20, most, most - 1, least, least + 1, std::int64_t{1} << 40};
    return some[below(below(4) == 0 ? some.size() : 8)];
  }
  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> all(below(5));
    for (auto& one : all) one = integer();
    return all;
  }
  std::vector<OnnxValue::Dim> shape() {
    std::vector<OnnxValue::Dim> dims;
    for (std::size_t i = below(5); i > 0; --i)
      below(3) == 0 ? dims.emplace_back(std::string())
                    : dims.emplace_back(static_cast<std::int64_t>(below(4)));
    return dims;
  }
  Tensor tensor() {
    if (below(2) == 0) {
      const auto values = integers();
      return Tensor::of<std::int64_t>({std::ssize(values)}, values);
    }
    std::vector<std::int64_t> dims(below(5));
    for (auto& dim : dims) dim = static_cast<std::int64_t>(below(4));
    constexpr std::array dtypes{DType::float32, DType::float64, DType::int32, DType::uint8,
                                DType::boolean};
    return Tensor::zeros(below(2) == 0 ? DType::float32 : dtypes[below(dtypes.size())], Shape(dims));
  }
  std::vector<std::string> inputs() {
    std::vector<std::string> names;
    for (std::size_t i = below(6); i > 0; --i)
      names.emplace_back(std::array{"x", "x", "a", "b", "c", ""}[below(6)]);
    return names;
  }
  OnnxAttrs attrs() {
    OnnxAttrs all;
    for (const char* name :
         {"axis", "keepdims", "allowzero", "group", "ceil_mode", "transA", "to", "count_include_pad"})
      if (below(3) == 0) all[name] = integer();
    for (const char* name : {"axes", "perm", "pads", "strides", "kernel_shape", "dilations"})
      if (below(3) == 0) all[name] = integers();
    if (below(3) == 0) all["auto_pad"] = std::string(below(2) == 0 ? "SAME_UPPER" : "VALID");
    if (below(4) == 0) all["value"] = tensor();
    return all;
  }

  std::mt19937 random_;
};

// Of y, computed from x by a node and int64 "i".
Tensor computed(const OnnxNode& node, const Tensor& x, const Tensor& i) {
  const Folder folder;
  OnnxModel model = model_of({node});
  model.inputs = {{"x", x.dtype(), {{"n", 2}}}, {"i", DType::int64, {{"m"}}}};
  if (node.op == "Expand") {
    model.inputs.pop_back();
    model.initializers["i"] = i;
  }
  Graph graph;
  const Signature imported = import_onnx(posix_storage(), write_model(folder, model), graph);
  Session session(graph);
  Feeds feeds{{imported.inputs.at("x"), x}};
  if (imported.inputs.contains("i")) feeds.emplace_back(imported.inputs.at("i"), i);
  return session.run(imported.outputs.at("y"), feeds);
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_nodes_that_are_not_there_are_named) {
  const Folder folder;
  const std::string file =
      write_model(folder, model_of({{"a", "Loop", {"x"}, {"u"}, {}},
                                    {"b", "Relu", {"u"}, {"v"}, {}},
                                    {"c", "Softmax", {"v"}, {"w"}, {}},
                                    {"d", "Concat", {"w", "x"}, {"y"}, {{"axis", std::int64_t{0}}}},
                                    {"e", "own.Thing", {"y"}, {"z"}, {}}}));
  Graph graph;
  const auto is_right = [](const Error& error) {
    const std::string text = error.what();
    return error.code() == Code::unimplemented && text.find("2 nodes") != std::string::npos &&
           text.find("'a' (Loop)") != std::string::npos &&
           text.find("'e' (own.Thing)") != std::string::npos;
  };
  BOOST_CHECK_EXCEPTION(import_onnx(posix_storage(), file, graph), Error, is_right);
}

BOOST_AUTO_TEST_CASE(nodes_that_make_no_sense_are_named) {
  const Folder folder;
  const auto fails = [&](OnnxNode node, Code code, const std::string& text) {
    const std::string file = write_model(folder, model_of({std::move(node)}));
    Graph graph;
    BOOST_CHECK_EXCEPTION(import_onnx(posix_storage(), file, graph), Error, fails_as(code, text));
  };
  fails({"a", "Relu", {"none"}, {"y"}, {}}, Code::data_loss, "'none'");
  fails({"a", "Add", {"x"}, {"y"}, {}}, Code::invalid_argument, "input 1 is missing");
  fails({"a", "Softmax", {"x"}, {"y"}, {{"axis", std::int64_t{7}}}}, Code::invalid_argument, "axis 7");
  fails({"a", "Transpose", {"x"}, {"y"}, {{"perm", std::vector<std::int64_t>{0, 3}}}},
        Code::invalid_argument, "no permutation");
  fails({"a", "Transpose", {"x"}, {"y"}, {{"perm", std::int64_t{1}}}}, Code::invalid_argument, "'perm'");
  fails({"a", "Reshape", {"x", "x"}, {"y"}, {}}, Code::unimplemented, "input 1 is computed");
  fails({"a", "Gemm", {"x", "x"}, {"z"}, {}}, Code::data_loss, "'y'");
  fails({"a", "Relu", {"x"}, {"x"}, {}}, Code::data_loss, "two tensors 'x'");
  fails({"a", "Identity", {"x"}, {"z", "y"}, {}}, Code::unimplemented, "output 'y' is the second one");
  fails({"a", "Concat", {}, {"y"}, {}}, Code::invalid_argument, "'a'");
  fails({"a", "GlobalAveragePool", {"x"}, {"y"}, {}}, Code::invalid_argument, "no image");
  fails({"a", "MaxPool", {"x"}, {"y"}, {}}, Code::unimplemented, "2 dimensions; 4 are there");
  fails({"a", "Max", {}, {"y"}, {}}, Code::invalid_argument, "'a'");
}

// [batch, 6] is never [batch, 4], whatever the batch is.
BOOST_AUTO_TEST_CASE(shapes_that_cannot_fit_are_named) {
  const Folder folder;
  for (const std::vector<std::int64_t>& shape :
       {Ints{0, 4}, Ints{-1, -1}, Ints{0, -1, 5}, Ints{0, 2, 2}}) {
    OnnxModel model = model_of({{"a", "Reshape", {"x", "shape"}, {"y"}, {}}});
    model.inputs = {{"x", DType::float32, {{"batch", 6}}}};
    model.initializers["shape"] = Tensor::of<std::int64_t>({std::ssize(shape)}, shape);
    const std::string file = write_model(folder, model);
    Graph graph;
    BOOST_CHECK_EXCEPTION(import_onnx(posix_storage(), file, graph), Error,
                          fails_as(Code::invalid_argument, "a shape of ("));
  }
}

BOOST_AUTO_TEST_CASE(computed_indices_may_count_from_the_end) {
  const Tensor x = Tensor::of<float>({{1, 2}, {3, 4}, {5, 6}}),
               i = Tensor::of<std::int64_t>({2}, {-1, 1});
  const auto gathered = [&](std::int64_t axis) {
    return computed({"a", "Gather", {"x", "i"}, {"y"}, {{"axis", axis}}}, x, i);
  };
  BOOST_TEST(identical(gathered(0), Tensor::of<float>({{5, 6}, {3, 4}})));
  BOOST_TEST(identical(gathered(1), Tensor::of<float>({{2, 2}, {4, 4}, {6, 6}})));
}

BOOST_AUTO_TEST_CASE(both_shapes_of_an_expansion_grow) {
  const Tensor x = Tensor::of<float>({{1, 2}}), i = Tensor::of<std::int64_t>({3}, {2, 1, 1});
  BOOST_TEST(identical(computed({"a", "Expand", {"x", "i"}, {"y"}, {}}, x, i),
                       Tensor::of<float>({{{1, 2}}, {{1, 2}}})));
}

// Each is imported or refused, and what is imported runs or fails, by an error that a user can read.
BOOST_AUTO_TEST_CASE(any_node_is_imported_or_refused) {
  const Folder folder;
  int imported = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const std::string file = write_model(folder, AnyModel(seed).make());
    Graph graph;
    try {
      const Signature model = import_onnx(posix_storage(), file, graph);
      ++imported;
      Session session(graph);
      session.run(model.outputs.at("y"),
                  {{model.inputs.at("x"), Tensor::zeros(DType::float32, {1, 3, 3, 3})}});
    } catch (const Error& error) {
      BOOST_TEST((error.code() != Code::internal && *error.what() != '\0'),
                 seed << ": " << error.what());
    } catch (const std::exception& error) {
      BOOST_ERROR(seed << " ends with " << error.what());
    }
  }
  BOOST_TEST(imported > 200);
}

BOOST_AUTO_TEST_SUITE_END()
