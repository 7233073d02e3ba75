// ONNX models as tests write them, and the mistakes that an import finds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "actors/runtime/storage.h"
#include "dataflow/values/error.h"
#include "schema/onnx/onnx.h"
#include "test/support/folder.h"
#include "test/support/says.h"

namespace actorflow::test {

// A file of a model that a program of others may have written.
inline std::string write_model(const Folder& folder, const OnnxModel& model) {
  const auto files = encode_onnx(model);
  posix_storage().write_atomically(folder.file("model.onnx"), files.model);
  return folder.file("model.onnx");
}

inline OnnxModel model_of(std::vector<OnnxNode> nodes) {
  return {.name = "model",
          .inputs = {{"x", DType::float32, {{2, 2}}}},
          .outputs = {{"y", DType::float32, {}}},
          .nodes = std::move(nodes),
          .initializers = {}};
}

inline auto fails_as(Code code, std::string text) {
  return [code, is = says(std::move(text))](const Error& error) {
    return error.code() == code && is(error);
  };
}

}  // namespace actorflow::test
