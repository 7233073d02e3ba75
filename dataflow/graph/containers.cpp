#include "dataflow/graph/containers.h"

#include <algorithm>
#include <cctype>

namespace actorflow {
namespace {

constexpr char container_end = '|';
constexpr char session_end = ':';

std::string isolated(std::string_view variable, std::string_view session) {
  const bool has_container = variable.find(container_end) != std::string_view::npos;
  return std::string(session) + session_end + (has_container ? "" : std::string(1, container_end)) +
         std::string(variable);
}

// The variables of a node that saves or restores several: a list, in a tensor that nobody else may see
// change.
Tensor isolated_list(const Tensor& list, std::string_view session) {
  if (list.dtype() != DType::string) return list;
  Tensor changed = list.clone();
  for (auto& variable : changed.mutable_values<std::string>()) variable = isolated(variable, session);
  return changed;
}

void isolate(AttrValue& name, std::string_view session) {
  if (auto* state = std::get_if<std::string>(&name); state && !state->empty())
    *state = isolated(*state, session);
  if (auto* list = std::get_if<Tensor>(&name)) *list = isolated_list(*list, session);
}

}  // namespace

void check_container(std::string_view name) {
  const auto is_first = [](unsigned char c) { return std::isalnum(c) || c == '.'; };
  const auto is_inner = [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("_.-/").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (name.empty() ||
      (is_first(static_cast<unsigned char>(name[0])) && std::ranges::all_of(name, is_inner)))
    return;
  throw invalid_argument("'" + std::string(name) +
                         "' is no name of a container; expected a letter, digit or '.', then letters, "
                         "digits and \"_.-/\"");
}

std::string in_container(std::string_view container, std::string_view variable) {
  return container.empty() ? std::string(variable)
                           : std::string(container) + container_end + std::string(variable);
}

std::string_view container_of(std::string_view variable) {
  const auto end = variable.find(container_end);
  return end == std::string_view::npos ? std::string_view() : variable.substr(0, end);
}

bool is_in(std::string_view variable, const std::vector<std::string>& containers,
           std::string_view session) {
  const auto container = container_of(variable);
  if (std::ranges::find(containers, container) != containers.end()) return true;
  return !session.empty() && container.size() > session.size() && container.starts_with(session) &&
         container[session.size()] == session_end;
}

const std::string* named_state(const Node& node) {
  for (const AttrDef& attr : node.op->attrs) {
    if (!attr.names_state) continue;
    const auto found = node.attrs.find(attr.name);
    return found == node.attrs.end() ? nullptr : std::get_if<std::string>(&found->second);
  }
  return nullptr;
}

void isolate(GraphDef& graph, std::string_view session) {
  for (auto& node : graph.nodes)
    for (const AttrDef& attr : node.op->attrs)
      if (const auto name = node.attrs.find(attr.name); attr.names_state && name != node.attrs.end())
        isolate(name->second, session);
}

}  // namespace actorflow
