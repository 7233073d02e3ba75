// Callbacks that write what was measured.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "actors/events/event_writer.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/fit/callbacks/output_folder.h"
#include "actors/models/model.h"
#include "actors/monitored/event_log.h"
#include "actors/monitored/storage_error.h"
#include "actors/runtime/storage.h"
#include "dataflow/values/error.h"
#include "schema/records/csv_field.h"

namespace actorflow {
namespace {

// The number of a row; none of a header.
std::optional<std::int64_t> number_of(std::string_view row) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// The text without the rows at its end that have this number or later ones, and without a row that is
// not complete. Rows of an earlier training, whose numbers end before, stay.
std::string_view without_rows_from(std::string_view text, std::int64_t first) {
  text = text.substr(0, text.rfind('\n') + 1);
  auto last = std::numeric_limits<std::int64_t>::max();
  while (!text.empty()) {
    const std::size_t begin = text.substr(0, text.size() - 1).rfind('\n') + 1;
    const auto number = number_of(text.substr(begin));
    if (!number || *number < first || *number > last) break;
    last = *number;
    text = text.substr(0, begin);
  }
  return text;
}

// The number of logs at the end of this epoch, or at the present step of it.
std::int64_t number_of_logs(FitContext& training, int epoch) {
  return training.logs_by_step() ? training.model().step() : epoch;
}

// At the beginning of an epoch: its logs have this number or, of steps, a later one.
std::int64_t first_number(FitContext& training, int epoch) {
  return number_of_logs(training, epoch) + (training.logs_by_step() ? 1 : 0);
}

class CsvLogger final : public Callback {
 public:
  CsvLogger(std::string path, bool append) : path_(std::move(path)), append_(append) {}

  void on_train_begin(FitContext& training) override {
    expect_output_folder(training, "the log " + path_, folder_of(path_));
    columns_.clear();
    header_.clear();
    has_row_ = false;
    waiting_.clear();
    storage_ = &training.storage();
    is_whole_ = true;
    last_.reset();
  }
  // The next row has the number `first` or, of steps, a later one.
  void on_epoch_begin(FitContext& training, int epoch) override {
    const std::int64_t first = first_number(training, epoch);
    if (!last_) {
      begin_file(training, first);
    } else if (first <= *last_) {
      forget_from(first);
    }
    last_ = first;
  }
  void on_epoch_end(FitContext& training, int epoch, Logs& logs) override {
    if (columns_.empty()) begin_columns(training, logs);
    if (!has_row_) expect_columns(training, logs.values() | std::views::keys);
    has_row_ = true;
    std::string row = fmt::format("{}", number_of_logs(training, epoch));
    for (const auto& column : columns_) {
      const auto value = logs.find(column);
      row += value ? fmt::format(",{}", *value) : ",";
    }
    write(row + "\n");
  }
  void on_train_end(FitContext&) override {
    if (!waiting_.empty()) write({});
  }

 private:
  static bool goes_on(const FitContext& training, std::int64_t first) {
    if (training.logs_by_step()) return first > 1;
    return training.resumed() || first != training.first().epoch;
  }
  static std::string_view first_column(const FitContext& training) {
    return training.logs_by_step() ? "step" : "epoch";
  }
  static std::string header_of(const FitContext& training, auto&& names) {
    std::string header(first_column(training));
    for (const std::string& name : names) {
      header += ',';
      detail::append_csv_text(name, header, ',');
    }
    return header;
  }
  void begin_file(FitContext& training, std::int64_t first) {
    const bool goes_on = this->goes_on(training, first);
    if (!append_ && !goes_on) remove_file();
    size_ = 0;
    if (!storage_->exists(path_)) return;
    const auto bytes = with_storage_tries(training.runtime(), "reading the log " + path_,
                                          [this] { return storage_->read(path_); });
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    constexpr auto none = std::numeric_limits<std::int64_t>::max();
    const std::string_view kept = without_rows_from(text, goes_on ? first : none);
    size_ = kept.size();
    is_whole_ = kept.size() == text.size();
    if (size_ > 0) take_header(training, kept.substr(0, kept.find('\n')));
  }
  void remove_file() {
    try {
      storage_->remove(path_);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("the log {} cannot be replaced: {}", path_, error.what()));
    }
  }
  // Rows below a header of other columns would be read as if they had these.
  void take_header(const FitContext& training, std::string_view header) {
    header_ = header;
    CsvSplitter splitter;
    try {
      const auto fields = splitter.split(header);
      columns_.assign(fields.begin(), fields.end());
    } catch (const Error&) {  // no CSV at all
      refuse(training, training.measured());
    }
    const std::string first = columns_[0];
    columns_.erase(columns_.begin());
    if (first != first_column(training)) refuse(training, training.measured());
    expect_columns(training, training.measured());
  }
  // Of a log that goes on: later epochs are as the first one.
  void expect_columns(const FitContext& training, auto&& names) const {
    const auto has_no_column = [this](const std::string& name) {
      return std::ranges::find(columns_, name) == columns_.end();
    };
    if (!header_.empty() && std::ranges::any_of(names, has_no_column)) refuse(training, names);
  }
  [[noreturn]] void refuse(const FitContext& training, auto&& names) const {
    throw Error(
        Code::failed_precondition,
        fmt::format("csv_logger: {} has the columns '{}', but this fit() logs '{}', which do not "
                    "fit under them; choose another file, or remove this one",
                    path_, header_, header_of(training, names)));
  }
  // What later epochs alone measure has a column, too.
  void begin_columns(const FitContext& training, const Logs& logs) {
    columns_ = training.measured();
    for (const auto& [name, value] : logs.values())
      if (!training.measures(name)) columns_.push_back(name);
    if (size_ == 0) waiting_ = header_of(training, columns_) + "\n";
  }
  // They go from the file with the next row that is written.
  void forget_from(std::int64_t first) {
    waiting_ = without_rows_from(waiting_, first);
    if (size_ == 0) return;
    storage_allows("read the log " + path_, [this, first] {
      const auto bytes = storage_->read(path_);
      // Somebody else may have cut the file.
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                  std::min(bytes.size(), size_));
      const auto kept = without_rows_from(text, first).size();
      is_whole_ = is_whole_ && kept == size_;
      size_ = kept;
    });
  }
  // Rows that the disk refuses come with the next one.
  void write(std::string_view text) {
    waiting_ += text;
    is_whole_ = storage_allows("write the log " + path_, [this] {
      if (!is_whole_) return write_anew();
      storage_->append(path_, std::as_bytes(std::span(waiting_)));
    });
    if (!is_whole_) return;
    size_ += waiting_.size();
    waiting_.clear();
  }
  // Of what was refused a part may be there.
  void write_anew() const {
    auto rows = size_ > 0 ? storage_->read(path_) : std::vector<std::byte>();
    rows.resize(std::min<std::size_t>(rows.size(), size_));
    const auto more = std::as_bytes(std::span(waiting_));
    rows.insert(rows.end(), more.begin(), more.end());
    storage_->write_atomically(path_, rows);
  }

  std::string path_;
  bool append_;
  std::vector<std::string> columns_;  // without the number
  std::string header_;                // of the file that goes on
  bool has_row_ = false;
  // Of the present fit().
  Storage* storage_ = nullptr;
  std::optional<std::int64_t> last_;  // the number with which the last epoch began
  std::uint64_t size_ = 0;            // of what was written
  std::string waiting_;               // rows that were not
  bool is_whole_ = true;              // the file has what was written, and no more
};

class TensorBoard final : public Callback {
 public:
  explicit TensorBoard(std::string folder) : folder_(std::move(folder)) {}

  void on_train_begin(FitContext& training) override {
    expect_output_folder(training, "summaries", folder_);
    training_.emplace(std::make_shared<EventWriter>(training.storage(), folder_));
    validation_.emplace(std::make_shared<EventWriter>(training.storage(), folder_ + "/validation"));
    last_.reset();
  }

  // TensorBoard drops what was told of this epoch and later ones before: by a chief that was lost, or by
  // this one before a loss.
  void on_epoch_begin(FitContext& training, int epoch) override {
    const std::int64_t first = first_number(training, epoch);
    if (!last_ || first <= *last_)
      for (auto* log : {&training_, &validation_})
        (*log)->write([first](EventWriter& to) { to.session_start(first); });
    last_ = first;
  }

  void on_epoch_end(FitContext& training, int epoch, Logs& logs) override {
    const std::int64_t number = number_of_logs(training, epoch);
    constexpr std::string_view prefix = "val_";
    for (const auto& [name, value] : logs.values()) {
      const bool of_validation = name.starts_with(prefix);
      const std::string plain = of_validation ? name.substr(prefix.size()) : name;
      (of_validation ? validation_ : training_)->write([&, &value = value](EventWriter& to) {
        to.scalar(number, "epoch_" + plain, value);
      });
    }
    for (auto* log : {&training_, &validation_}) (*log)->write([](EventWriter& to) { to.flush(); });
  }

 private:
  std::string folder_;
  std::optional<EventLog> training_, validation_;  // of the present fit()
  std::optional<std::int64_t> last_;               // number of an epoch's first logs
};

class FunctionsCallback final : public Callback {
 public:
  explicit FunctionsCallback(CallbackFunctions functions) : functions_(std::move(functions)) {
    if (static_cast<bool>(functions_.state) == static_cast<bool>(functions_.restore)) return;
    throw invalid_argument(
        fmt::format("callback '{}': expected both `state` and `restore`, or none of them, got {} alone",
                    functions_.name, functions_.state ? "`state`" : "`restore`"));
  }

  std::string name() const override { return functions_.name; }
  std::string_view misses_before(int epoch) const override {
    return functions_.restore && epoch > 1 ? std::string_view(functions_.name) : "";
  }
  CallbackState state() const override {
    return functions_.state ? functions_.state() : CallbackState();
  }
  void restore(const CallbackState& state) override {
    if (functions_.restore) functions_.restore(state);
  }
  bool looks_at_batches() const override { return static_cast<bool>(functions_.on_batch_end); }
  void on_train_begin(FitContext& training) override {
    if (functions_.on_train_begin) functions_.on_train_begin(training);
  }
  void on_epoch_begin(FitContext& training, int epoch) override {
    if (functions_.on_epoch_begin) functions_.on_epoch_begin(training, epoch);
  }
  void on_batch_end(FitContext& training, std::int64_t batch, const Logs& logs) override {
    if (functions_.on_batch_end) functions_.on_batch_end(training, batch, logs);
  }
  void on_epoch_end(FitContext& training, int epoch, Logs& logs) override {
    if (functions_.on_epoch_end) functions_.on_epoch_end(training, epoch, logs);
  }
  void on_train_end(FitContext& training) override {
    if (functions_.on_train_end) functions_.on_train_end(training);
  }

 private:
  CallbackFunctions functions_;
};

}  // namespace

CallbackRef csv_logger(std::string path, bool append) {
  return std::make_shared<CsvLogger>(expect_path("csv_logger", std::move(path)), append);
}

CallbackRef tensorboard(std::string folder) {
  return std::make_shared<TensorBoard>(expect_path("tensorboard", std::move(folder)));
}

CallbackRef callback(CallbackFunctions functions) {
  return std::make_shared<FunctionsCallback>(std::move(functions));
}

}  // namespace actorflow
