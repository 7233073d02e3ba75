// What is exported, and what is refused; that foreign runtimes compute the same is tested in apps/.
#include "actors/export/onnx_export.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "schema/onnx/onnx.pb.h"
#include "test/actors/support/memory_storage.h"

using namespace actorflow;

namespace {

// y = relu(x w) + shift, on devices, with a loss beside it.
struct ExportedModel {
  ExportedModel() {
    graph.on("/job:ps/task:3", [&] { w = graph.variable("w", fill(graph, {2, 3}, 0.5)); });
    x = graph.placeholder(DType::float32, {Shape::unknown, 2}, "x");
    hidden = matmul(x, w);
    y = relu(hidden) + graph.placeholder(DType::float32, {}, "shift");
    loss =
        mean(softmax_cross_entropy(hidden, graph.placeholder(DType::int64, {Shape::unknown}, "labels")));
  }
  std::map<std::string, Tensor> values() const {
    return {{"w", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})}, {"other", Tensor::scalar(1.0f)}};
  }

  Graph graph;
  Variable w;
  Output x, hidden, y, loss;
};

onnx::ModelProto exported(MemoryStorage& storage, const std::string& path) {
  const auto& bytes = storage.files.at(path);
  onnx::ModelProto model;
  BOOST_TEST_REQUIRE(model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return model;
}

Status status_of(const std::map<std::string, Signature>& signatures,
                 const std::map<std::string, Tensor>& values) {
  MemoryStorage storage;
  try {
    export_onnx(storage, "out", signatures, values);
  } catch (const Error& error) {
    BOOST_TEST(storage.files.empty());
    return error.status();
  }
  return {};
}

bool mentions(const Status& status, std::string_view text) {
  BOOST_TEST_INFO(status.message);
  return status.message.find(text) != std::string::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(onnx_export, ExportedModel)

BOOST_AUTO_TEST_CASE(only_what_the_outputs_need_is_exported) {
  MemoryStorage storage;
  export_onnx(storage, "out", {{serving_default, {{{"rows", x}}, {{"product", hidden}}}}}, values());
  const auto model = exported(storage, "out/model.onnx");
  BOOST_TEST(model.opset_import(0).version() == 17);
  const auto& g = model.graph();
  BOOST_TEST_REQUIRE(g.node_size() == 2);
  BOOST_TEST(g.node(0).op_type() == "MatMul");
  BOOST_TEST(g.node(1).op_type() == "Identity");
  BOOST_TEST(g.node(1).output(0) == "product");
  BOOST_TEST_REQUIRE(g.initializer_size() == 1);
  BOOST_TEST(g.initializer(0).name() == "w");
  BOOST_TEST(g.initializer(0).raw_data().size() == 24u);
  BOOST_TEST_REQUIRE(g.input_size() == 1);
  BOOST_TEST(g.input(0).name() == "rows");
  const auto& shape = g.input(0).type().tensor_type().shape();
  BOOST_TEST(shape.dim(0).dim_param() == "batch");
  BOOST_TEST(shape.dim(1).dim_value() == 2);
}

BOOST_AUTO_TEST_CASE(each_signature_has_a_model_of_its_own) {
  MemoryStorage storage;
  export_onnx(storage, "out",
              {{serving_default, {{{"x", x}}, {{"y", hidden}}}},
               {"top", {{{"x", hidden}}, {{"y", relu(hidden)}}}}},
              values());
  BOOST_TEST(exported(storage, "out/model.onnx").graph().initializer_size() == 1);
  BOOST_TEST(exported(storage, "out/top.onnx").graph().initializer_size() == 0);
  const auto& bytes = storage.files.at("out/signatures.json");
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  BOOST_TEST(text.find("\"model\": \"top.onnx\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_variables_that_are_needed_are_named) {
  BOOST_TEST(exported_variables({{"a", {{{"x", x}}, {{"y", hidden}}}}}) == std::vector<std::string>{"w"},
             boost::test_tools::per_element());
  BOOST_TEST(exported_variables({{"a", {{{"h", hidden}}, {{"y", relu(hidden)}}}}}).empty());
}

BOOST_AUTO_TEST_CASE(all_nodes_without_a_translation_are_listed_at_once) {
  const Output noisy = hidden + random_normal(graph, {3}, 0, 1, 7);
  const Output norm = batch_norm(noisy, fill(graph, {3}, 1), fill(graph, {3}, 0)).y;
  const Status status = status_of({{"a", {{{"x", x}}, {{"y", norm}}}}}, values());
  BOOST_TEST((status.code == Code::unimplemented));
  BOOST_TEST(mentions(status, "2 nodes cannot be exported"));
  BOOST_TEST(mentions(status, "(RandomNormal)"));
  BOOST_TEST(mentions(status, "export the model built for inference"));
}

BOOST_AUTO_TEST_CASE(an_input_that_is_missing_is_named) {
  const Status status = status_of({{"a", {{{"x", x}}, {{"y", y}}}}}, values());
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(mentions(status, "placeholder 'shift', which is not among the signature's inputs (x)"));
}

BOOST_AUTO_TEST_CASE(a_value_that_is_missing_or_of_another_type_is_named) {
  const std::map<std::string, Signature> signatures{{"a", {{{"x", x}}, {{"y", hidden}}}}};
  BOOST_TEST((status_of(signatures, {}).code == Code::not_found));
  const Status status = status_of(signatures, {{"w", Tensor::zeros(DType::float32, {3, 2})}});
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(
      mentions(status, "the variable 'w' is float32[2,3], but the value given for it float32[3,2]"));
}

BOOST_AUTO_TEST_CASE(signatures_are_checked) {
  Graph other;
  const Output stranger = other.constant(1.0f);
  BOOST_TEST(mentions(status_of({}, {}), "no signature"));
  BOOST_TEST(mentions(status_of({{"a", {{{"x", x}}, {}}}}, {}), "at least one output"));
  BOOST_TEST(mentions(status_of({{"a/b", {{}, {{"y", hidden}}}}}, {}), "'a/b'"));
  BOOST_TEST(mentions(status_of({{"a", {{{"x", stranger}}, {{"y", hidden}}}}}, {}), "another graph"));
  BOOST_TEST(mentions(status_of({{"a", {{{"x", x}}, {{"x", hidden}}}}}, values()), "are called 'x'"));
  BOOST_TEST(mentions(status_of({{"a", {{{"x", x}, {"z", x}}, {{"y", hidden}}}}}, values()), "'z'"));
}

BOOST_AUTO_TEST_SUITE_END()
