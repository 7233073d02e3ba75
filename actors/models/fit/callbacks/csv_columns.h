// The columns of a CSV log: the number of a row, then what is measured, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/models/logs/logs.h"

namespace actorflow {

// A value.
class CsvColumns {
 public:
  // `number` is the name of the first column.
  CsvColumns(std::string number, std::vector<std::string> measured)
      : number_(std::move(number)), measured_(std::move(measured)) {}
  // Those of a file that begins with this line; nothing if it is no CSV.
  static std::optional<CsvColumns> of_header(std::string_view line);

  const std::string& number() const { return number_; }
  bool has(std::string_view measured) const;
  std::string header() const;  // "epoch,loss,val_loss"
  // A row without values for what was not measured.
  std::string row(std::int64_t number, const Logs& logs) const;

 private:
  std::string number_;
  std::vector<std::string> measured_;
};

}  // namespace actorflow
