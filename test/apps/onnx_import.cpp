// ONNX models as others make them compute what ONNX Runtime computes.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "actors/client/session.h"
#include "actors/import/onnx_import.h"
#include "test/apps/support/python.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(onnx_import, *boost::unit_test::precondition(actorflow::test::has_python))

using namespace actorflow;
using namespace actorflow::test;
using Json = nlohmann::json;

namespace {

Tensor tensor_of(const Json& json) {
  return Tensor::of<float>(Shape(json["shape"].get<std::vector<std::int64_t>>()),
                           json["data"].get<std::vector<float>>());
}

void check(const std::filesystem::path& model) {
  const std::string name = model.stem().string();
  Graph graph;
  const Signature signature = import_onnx(posix_storage(), model.string(), graph);
  auto cases = model;
  const Json expected = Json::parse(read_file(cases.replace_extension(".json").string()));
  Session session(graph);
  const Tensor y = session.run(signature.outputs.at("y"),
                               {{signature.inputs.at("x"), tensor_of(expected["inputs"]["x"])}});
  const Tensor wanted = tensor_of(expected["outputs"]["y"]);
  BOOST_TEST_REQUIRE(y.describe() == wanted.describe(), name);
  for (std::size_t i = 0; i < y.values<float>().size(); ++i) {
    const float difference = std::abs(y.values<float>()[i] - wanted.values<float>()[i]);
    BOOST_TEST(difference <= 1e-5F * std::max(1.F, std::abs(wanted.values<float>()[i])),
               name << ": element " << i << " is " << y.values<float>()[i]);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(models_of_others_compute_what_onnx_runtime_computes) {
  const Folder folder;
  check_with_python("make_onnx.py", {folder.path()});
  int models = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    if (file.path().extension() == ".onnx") {
      check(file.path());
      ++models;
    }
  BOOST_TEST(models == 14);
}

BOOST_AUTO_TEST_SUITE_END()
