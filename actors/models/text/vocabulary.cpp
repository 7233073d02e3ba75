#include "actors/models/text/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "actors/runtime/expect_path.h"
#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::string path_in(const std::string& folder) { return folder + "/vocabulary.txt"; }

// The number of bytes of the character that begins with this one (RFC 3629); 0 if none does.
std::size_t bytes_after(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  return byte >= 0xF0 && byte < 0xF5 ? 4 : 0;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The character at the beginning of `rest`, the end of `text`.
std::string_view first_character(std::string_view rest, std::string_view text) {
  const std::size_t bytes = bytes_after(rest[0]);
  if (bytes == 0 || bytes > rest.size() || !std::ranges::all_of(rest.substr(1, bytes - 1), continues))
    throw Error(Code::data_loss,
                fmt::format("the text is not UTF-8: expected a character at byte {} of {}, got 0x{:02x}",
                            text.size() - rest.size(), text.size(),
                            static_cast<unsigned>(static_cast<unsigned char>(rest[0]))));
  return rest.substr(0, bytes);
}

template <class Visit>
void for_each_character(std::string_view text, Visit visit) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view character = first_character(rest, text);
    visit(character);
    rest.remove_prefix(character.size());
  }
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

// The bytes of UTF-8 are in the order of the code points.
Vocabulary::Vocabulary(std::vector<std::string> characters) : characters_(std::move(characters)) {
  for (std::int64_t number = 0; number < size(); ++number)
    numbers_.emplace(characters_[static_cast<std::size_t>(number)], number);
}

Vocabulary Vocabulary::of(std::string_view text) {
  std::set<std::string, std::less<>> found;
  for_each_character(text, [&](std::string_view character) {
    if (!found.contains(character)) found.emplace(character);
  });
  return Vocabulary(std::vector<std::string>(found.begin(), found.end()));
}

std::vector<std::int64_t> Vocabulary::encode(std::string_view text) const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(text.size());
  for_each_character(text, [&](std::string_view character) {
    const auto entry = numbers_.find(character);
    if (entry == numbers_.end())
      throw invalid_argument(
          fmt::format("the character '{}' (number {} of the text) is not among the {} "
                      "of the vocabulary; leave it out",
                      character, numbers.size() + 1, size()));
    numbers.push_back(entry->second);
  });
  return numbers;
}

std::string Vocabulary::decode(std::span<const std::int64_t> numbers) const {
  std::string text;
  for (const std::int64_t number : numbers) {
    ACTORFLOW_CHECK(number >= 0 && number < size(), number, "of", size());
    text += characters_[static_cast<std::size_t>(number)];
  }
  return text;
}

void Vocabulary::save(Storage& storage, const std::string& folder) const {
  std::string text;
  for (const std::string& character : characters_) text += character;
  storage.write_atomically(path_in(expect_path("Vocabulary::save", folder)), bytes_of(text));
}

Vocabulary Vocabulary::load(Storage& storage, const std::string& folder) {
  const auto bytes = storage.read(path_in(expect_path("Vocabulary::load", folder)));
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> characters;
  for_each_character(text, [&](std::string_view character) { characters.emplace_back(character); });
  if (characters.empty() || !std::ranges::is_sorted(characters, std::ranges::less_equal{}))
    throw Error(Code::data_loss, path_in(folder) +
                                     ": expected the characters of a text in their order, each once; "
                                     "train the model again, or bring the file that was saved with it");
  return Vocabulary(std::move(characters));
}

}  // namespace actorflow
