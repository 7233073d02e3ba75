// The callback that writes a row of a CSV file for each epoch.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "actors/models/fit/callbacks.h"
#include "actors/models/fit/callbacks/csv_columns.h"
#include "actors/models/fit/callbacks/log_numbers.h"
#include "actors/models/fit/callbacks/numbered_rows.h"
#include "actors/models/fit/callbacks/output_folder.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

class CsvLogger final : public Callback {
 public:
  CsvLogger(std::string path, bool append) : path_(std::move(path)), append_(append) {}

  void on_train_begin(FitContext& training) override {
    expect_output_folder(training, "the log " + path_, folder_of(path_));
    rows_ = NumberedRows("the log " + path_, path_);
    columns_.reset();
    begun_.reset();
    source_ = Source::none;
  }
  void on_epoch_begin(FitContext& training, int epoch) override {
    const std::int64_t first = first_number(training, epoch);
    if (!begun_)
      open(training, first);
    else if (first <= *begun_)
      rows_.forget_from(first);
    begun_ = first;
  }
  void on_epoch_end(FitContext& training, int epoch, Logs& logs) override {
    if (source_ == Source::none) begin_columns(training, logs);
    if (source_ == Source::file) expect_columns(training, logs.values() | std::views::keys);
    source_ = Source::checked;
    rows_.write(columns_->row(number_of_logs(training, epoch), logs) + "\n");
  }
  void on_train_end(FitContext&) override {
    if (rows_.any_waits()) rows_.write({});
  }

 private:
  // Where the columns come from: later epochs are as the first one, whose logs a file must have columns
  // for.
  enum class Source : std::uint8_t { none, file, checked };

  static std::string first_column(const FitContext& training) {
    return training.logs_by_step() ? "step" : "epoch";
  }
  // Whether rows of an earlier part of the same training may be there.
  static bool goes_on(const FitContext& training, std::int64_t first) {
    if (training.logs_by_step()) return first > 1;
    return training.resumed() || first != training.first().epoch;
  }

  void open(FitContext& training, std::int64_t first) {
    const bool goes_on = this->goes_on(training, first);
    if (!append_ && !goes_on) remove_file(training.storage());
    const std::string header =
        rows_.open(training.runtime(), training.storage(), goes_on ? first : NumberedRows::all);
    if (rows_.is_empty()) return;
    columns_ = CsvColumns::of_header(header);
    source_ = Source::file;
    header_ = header;
    if (!columns_ || columns_->number() != first_column(training)) refuse(training, training.measured());
    expect_columns(training, training.measured());
  }
  void remove_file(Storage& storage) const {
    try {
      storage.remove(path_);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("the log {} cannot be replaced: {}", path_, error.what()));
    }
  }
  // What later epochs alone measure has a column, too.
  void begin_columns(const FitContext& training, const Logs& logs) {
    std::vector<std::string> names = training.measured();
    for (const auto& [name, value] : logs.values())
      if (!training.measures(name)) names.push_back(name);
    columns_.emplace(first_column(training), std::move(names));
    rows_.write_later(columns_->header() + "\n");
  }
  // Rows below a header of other columns would be read as if they had these.
  void expect_columns(const FitContext& training, auto&& names) const {
    const auto has_column = [this](const std::string& name) { return columns_->has(name); };
    if (!std::ranges::all_of(names, has_column)) refuse(training, names);
  }
  [[noreturn]] void refuse(const FitContext& training, auto&& names) const {
    const CsvColumns wanted(first_column(training), {names.begin(), names.end()});
    throw Error(
        Code::failed_precondition,
        fmt::format("csv_logger: {} has the columns '{}', but this fit() logs '{}', which do not "
                    "fit under them; choose another file, or remove this one",
                    path_, header_, wanted.header()));
  }

  const std::string path_;
  const bool append_;
  // Of the present fit().
  NumberedRows rows_{"the log " + path_, path_};
  std::optional<CsvColumns> columns_;
  Source source_ = Source::none;
  std::string header_;                 // of the file that goes on, for errors
  std::optional<std::int64_t> begun_;  // the number with which the last epoch began
};

}  // namespace

CallbackRef csv_logger(std::string path, bool append) {
  return std::make_shared<CsvLogger>(expect_path("csv_logger", std::move(path)), append);
}

}  // namespace actorflow
