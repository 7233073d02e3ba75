// Objects of plain values, written and read as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace actorflow {

// An integer is a std::uint64_t only if it is greater than any std::int64_t.
using JsonValue = std::variant<double, std::int64_t, std::uint64_t, std::string,
                               std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;
using JsonMembers = std::vector<std::pair<std::string, JsonValue>>;

// An indented object with these members, in their order, and a final newline. A number that JSON lacks
// (NaN, infinity) becomes null. Throws invalid_argument that names a text that is not UTF-8.
std::string json_object(const JsonMembers& members);
// The inverse; null becomes NaN. Throws data_loss that names the unexpected part.
JsonMembers parse_json_object(const std::string& text);

// What the parser, nlohmann's, says of a text, in words for users: `what` without the exception's name,
// "[json.exception. ...] parse error at ...".
std::string json_mistake(const std::string& what);

}  // namespace actorflow
