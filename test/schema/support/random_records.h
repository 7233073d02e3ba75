// Random records of any type, with many values that are equal, near each other, or at an end of their
// range.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

#include "dataflow/values/tensor.h"
#include "schema/records/record.h"

namespace actorflow::test {

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t end) { return random() % end; }

template <class T>
T random_number(Random& random) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(random_number<std::underlying_type_t<T>>(random));
  } else if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 == 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    const T values[] = {T(0),
                        T(-0.0),
                        T(1),
                        T(-1),
                        T(1.5),
                        Limits::denorm_min(),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        T(std::normal_distribution<double>()(random))};
    return values[below(random, std::size(values))];
  } else {
    const T values[] = {T(0), T(1), T(-1), T(2), Limits::min(), Limits::max(), static_cast<T>(random())};
    return values[below(random, std::size(values))];
  }
}

inline const std::string& random_text(Random& random) {
  static std::deque<std::string> texts;  // so that views of them stay valid
  const std::size_t size = below(random, 8) == 0 ? below(random, 300) : below(random, 12);
  texts.emplace_back();
  for (std::size_t i = 0; i < size; ++i) texts.back() += "\0a\xff,"[below(random, 4)];
  return texts.back();
}

template <Element T>
Tensor random_tensor(Random& random) {
  Shape shape;
  for (std::size_t left = below(random, 4); left > 0; --left)
    shape.push_back(static_cast<std::int64_t>(below(random, 4)));
  Tensor tensor = Tensor::allocate(dtype_of<T>, shape);
  for (auto& element : tensor.mutable_values<T>()) {
    if constexpr (std::is_same_v<T, std::string>)
      element = random_text(random);
    else
      element = random_number<T>(random);
  }
  return tensor;
}

inline Tensor random_tensor(Random& random) {
  switch (below(random, 8)) {
    case 0:
      return {};
    case 1:
      return random_tensor<float>(random);
    case 2:
      return random_tensor<double>(random);
    case 3:
      return random_tensor<std::int32_t>(random);
    case 4:
      return random_tensor<std::int64_t>(random);
    case 5:
      return random_tensor<bool>(random);
    case 6:
      return random_tensor<std::uint8_t>(random);
    default:
      return random_tensor<std::string>(random);
  }
}

template <class T>
T random_record(Random& random) {
  using detail::RecordKind;
  constexpr RecordKind kind = detail::record_kind<T>();
  if constexpr (kind == RecordKind::number) {
    return random_number<T>(random);
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return random_tensor(random);
  } else if constexpr (kind == RecordKind::text) {
    return T(random_text(random));
  } else if constexpr (kind == RecordKind::optional) {
    return random() % 2 == 0 ? T() : T(random_record<typename T::value_type>(random));
  } else if constexpr (kind == RecordKind::array) {
    T elements{};
    for (auto& element : elements) element = random_record<typename T::value_type>(random);
    return elements;
  } else if constexpr (kind == RecordKind::vector) {
    T elements;
    for (std::size_t left = below(random, 6); left > 0; --left)
      elements.push_back(random_record<typename T::value_type>(random));
    return elements;
  } else {
    return [&random]<class... F>(detail::Types<F...>) {
      return T{random_record<F>(random)...};
    }(detail::FieldTypes<T>());
  }
}

template <class... T, class F>
void for_each_type(F&& f) {
  (f(std::type_identity<T>()), ...);
}

// Calls check(record) for so many records of each type.
template <class... T, class Check>
void for_random_records(int count, Check&& check) {
  Random random(7);
  for_each_type<T...>([&]<class One>(std::type_identity<One>) {
    for (int i = 0; i < count; ++i) check(random_record<One>(random));
  });
}

}  // namespace actorflow::test
