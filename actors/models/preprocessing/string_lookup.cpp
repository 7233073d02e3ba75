#include "actors/models/preprocessing/string_lookup.h"

#include <fmt/format.h>

#include <span>
#include <unordered_map>
#include <utility>

#include "actors/input/file_source.h"
#include "actors/models/preprocessing/token_counts.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"
#include "schema/formats/element_reader.h"
#include "schema/records/csv_field.h"

namespace actorflow {
namespace {

std::string lookup_file(const std::string& folder, const std::string& name) {
  return expect_path("StringLookup", folder) + "/" + name + ".vocabulary";
}

}  // namespace

struct StringLookup::Table {
  std::vector<std::string> vocabulary;
  std::unordered_map<std::string_view, std::int64_t> ids{};  // of texts in the vocabulary
};

StringLookup::StringLookup(std::vector<std::string> vocabulary) {
  auto table = std::make_shared<Table>(Table{std::move(vocabulary)});
  for (const std::string& text : table->vocabulary)
    if (!table->ids.emplace(text, std::ssize(table->ids) + 1).second)
      throw invalid_argument(fmt::format("StringLookup: '{}' occurs twice in the vocabulary", text));
  table_ = std::move(table);
}

StringLookup StringLookup::adapt(const Dataset& examples, const StringLookupOptions& options) {
  if (options.max_tokens < 0 || options.max_tokens == 1)
    throw invalid_argument(
        fmt::format("StringLookup: expected max_tokens of 2 or more, of which one is that of all other "
                    "texts, or 0, got {}",
                    options.max_tokens));
  const std::int64_t at_most = options.max_tokens == 0 ? 0 : options.max_tokens - 1;
  return StringLookup(most_frequent(
      examples, options.component, at_most,
      [](const std::string& text, const std::function<void(std::string)>& count) { count(text); }));
}

const std::vector<std::string>& StringLookup::vocabulary() const { return table_->vocabulary; }

std::int64_t StringLookup::id_of(std::string_view text) const {
  const auto found = table_->ids.find(text);
  return found == table_->ids.end() ? 0 : found->second;
}

Tensor StringLookup::operator()(const Tensor& texts) const {
  expect_texts("StringLookup", texts);
  Tensor ids = Tensor::allocate(DType::int64, texts.shape());
  auto id = ids.mutable_values<std::int64_t>().begin();
  for (const std::string& text : texts.values<std::string>()) *id++ = id_of(text);
  return ids;
}

Dataset::Map StringLookup::of_component(std::size_t component) const {
  return map_of_component("StringLookup", component, *this);
}

// As CSV, since texts may have any bytes.
void StringLookup::save(Storage& storage, const std::string& folder, const std::string& name) const {
  std::string rows = "id,text\n";
  for (const std::string& text : vocabulary()) {
    rows += std::to_string(id_of(text)) + ",";
    detail::append_csv_text(text, rows, ',');
    rows += '\n';
  }
  storage.write_atomically(lookup_file(folder, name), std::as_bytes(std::span(rows)));
}

StringLookup StringLookup::load(Storage& storage, const std::string& folder, const std::string& name) {
  const std::string path = lookup_file(folder, name);
  const auto rows = read_csv(open_data_file(storage, path),
                             {.components = {{.dtype = DType::int64, .column = "id"},
                                             {.dtype = DType::string, .column = "text"}}});
  std::vector<std::string> vocabulary;
  for (Tuple row; rows->next(row);) {
    vocabulary.push_back(row[1].scalar<std::string>());
    if (row[0].scalar<std::int64_t>() != std::ssize(vocabulary))
      throw Error(Code::data_loss, fmt::format("{}: expected the id {} of '{}', got {}; bring the file "
                                               "that was saved with the model",
                                               path, vocabulary.size(), vocabulary.back(),
                                               row[0].scalar<std::int64_t>()));
  }
  return StringLookup(std::move(vocabulary));
}

}  // namespace actorflow
