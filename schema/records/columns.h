// Records whose numbers, texts, optionals and vectors are the columns of a row.
#pragma once

#include "schema/records/record.h"

namespace actorflow::detail {

// The record of a row, whose columns `row` gives in their order: row.template take_column<C>().
template <class T, class Row>
T take_columns(Row& row) {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::fields) {
    return [&row]<class... F>(Types<F...>) { return T{take_columns<F>(row)...}; }(FieldTypes<T>());
  } else if constexpr (kind == RecordKind::array) {
    T elements{};
    for (auto& element : elements) element = take_columns<typename T::value_type>(row);
    return elements;
  } else {
    return row.template take_column<T>();
  }
}

}  // namespace actorflow::detail
