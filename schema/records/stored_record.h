// Records that own all of their bytes, for those that outlive the block they were read from.
#pragma once

#include "schema/records/record.h"

namespace actorflow {
namespace detail {

template <class T>
consteval bool has_view();

template <class... F>
consteval bool have_view(Types<F...>) {
  return (has_view<F>() || ...);
}

template <class T>
consteval bool has_view() {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::number || kind == RecordKind::text)
    return std::is_same_v<T, std::string_view>;
  else if constexpr (kind == RecordKind::own)
    return false;
  else if constexpr (kind == RecordKind::fields)
    return have_view(FieldTypes<T>());
  else
    return has_view<typename T::value_type>();
}

template <class T>
struct StoredRecordOf {
  static_assert(
      !has_view<T>(),
      "a struct that is kept, as the reducers and sorts of a job do, holds std::string instead of "
      "std::string_view, which points into the block that it was read from");
  using type = T;
};
template <>
struct StoredRecordOf<std::string_view> {
  using type = std::string;
};
template <class A, class B>
struct StoredRecordOf<std::pair<A, B>> {
  using type = std::pair<typename StoredRecordOf<A>::type, typename StoredRecordOf<B>::type>;
};
template <class... F>
struct StoredRecordOf<std::tuple<F...>> {
  using type = std::tuple<typename StoredRecordOf<F>::type...>;
};
template <class T, std::size_t size>
struct StoredRecordOf<std::array<T, size>> {
  using type = std::array<typename StoredRecordOf<T>::type, size>;
};
template <class T>
struct StoredRecordOf<std::optional<T>> {
  using type = std::optional<typename StoredRecordOf<T>::type>;
};
template <class T>
struct StoredRecordOf<std::vector<T>> {
  using type = std::vector<typename StoredRecordOf<T>::type>;
};

}  // namespace detail

// T with std::string in the place of each std::string_view. Structs that hold one do not compile here.
template <Record T>
using StoredRecord = typename detail::StoredRecordOf<T>::type;

template <Record T>
StoredRecord<T> stored(const T& record) {
  using detail::RecordKind;
  using Result = StoredRecord<T>;
  constexpr RecordKind kind = detail::record_kind<T>();
  if constexpr (std::is_same_v<Result, T>) {
    return record;
  } else if constexpr (kind == RecordKind::text) {
    return Result(record);
  } else if constexpr (kind == RecordKind::fields) {
    return detail::visit_fields(record, [](const auto&... field) { return Result(stored(field)...); });
  } else if constexpr (kind == RecordKind::optional) {
    return record ? Result(stored(*record)) : Result();
  } else if constexpr (kind == RecordKind::array) {
    Result result;
    for (std::size_t i = 0; i < record.size(); ++i) result[i] = stored(record[i]);
    return result;
  } else {
    Result result;
    result.reserve(record.size());
    for (const auto& element : record) result.push_back(stored(element));
    return result;
  }
}

}  // namespace actorflow
