#include "dataflow/jobs/plan.h"

#include <string_view>

namespace actorflow {
namespace {

std::string_view name_of(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string heading(const PlanStage& stage) {
  std::string text = "stage " + std::to_string(stage.id);
  if (stage.parts > 0) text += ", " + counted(stage.parts, "part");
  if (stage.input_bytes > 0) text += " of " + std::to_string(stage.input_bytes) + " bytes in all";
  for (std::size_t i = 0; i < stage.reads.size(); ++i)
    text += (i == 0 ? ", reads stage " : " and ") + std::to_string(stage.reads[i]);
  return text;
}

std::string result(const PlanStage& stage) {
  return stage.gives + (stage.partitions > 0 ? ", in " + counted(stage.partitions, "partition") : "");
}

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string PlanOperator::to_string() const {
  if (file.empty()) return kind;
  return kind + " at " + std::string(name_of(file)) + ":" + std::to_string(line);
}

std::string to_text(std::span<const PlanStage> stages) {
  std::string text;
  for (const auto& stage : stages) {
    text += heading(stage) + "\n";
    for (const auto& op : stage.operators) text += "  " + op.to_string() + " -> " + op.records + "\n";
    text += "  gives " + result(stage) + "\n";
  }
  return text;
}

std::string to_dot(std::span<const PlanStage> stages) {
  std::string text = "digraph job {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const auto& stage : stages) {
    std::string label = heading(stage);
    for (const auto& op : stage.operators) label += "\n" + op.to_string();
    std::string escaped;
    for (const char c : in_quotes(label + "\n" + result(stage)))
      escaped += c == '\n' ? "\\n" : std::string(1, c);
    text += "  s" + std::to_string(stage.id) + " [label=" + escaped + "];\n";
    for (const auto read : stage.reads)
      text += "  s" + std::to_string(read) + " -> s" + std::to_string(stage.id) + ";\n";
  }
  return text + "}\n";
}

}  // namespace actorflow
