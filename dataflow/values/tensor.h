// Tensors: a dtype, a fully known shape and a shared buffer.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "dataflow/values/buffer.h"
#include "dataflow/values/dtype.h"
#include "dataflow/values/shape.h"

namespace actorflow {

// A handle: copies share the bytes, so that messages carry tensors without copying them. Treat the bytes
// as immutable once a handle has been given away; `exclusive()` is true if none has. Row-major, without
// gaps. Copies may be used from several threads.
class Tensor {
 public:
  template <Element T>
  using Row = std::initializer_list<T>;
  template <Element T>
  using Matrix = std::initializer_list<Row<T>>;
  template <Element T>
  using Cube = std::initializer_list<Matrix<T>>;

  Tensor() = default;  // No tensor: dtype invalid.
  // The elements in braces: Tensor{{1, 2}, {3, 4}} is an int32[2,2], Tensor{1.0F, 2.0F} a float32[2].
  // The literals, all of one C++ type, decide the dtype. Throws invalid_argument where rows differ in
  // length.
  template <Element T>
  Tensor(Row<T> values) : Tensor(of_list(values)) {}
  template <Element T>
  Tensor(Matrix<T> rows) : Tensor(of_lists<T>(rows)) {}
  template <Element T>
  Tensor(Cube<T> matrices) : Tensor(of_lists<T>(matrices)) {}
  // `buffer` holds at least shape.elements() elements, constructed.
  Tensor(DType dtype, const Shape& shape, BufferRef buffer);

  // A new tensor; its elements are not initialised, except strings, which are empty. Throws
  // resource_exhausted, or invalid_argument when the shape is not fully known or its size overflows. A
  // string tensor ignores `allocator`.
  static Tensor allocate(DType dtype, const Shape& shape, Allocator& allocator = heap());
  static Tensor zeros(DType dtype, const Shape& shape, Allocator& allocator = heap());
  template <Element T>
  static Tensor scalar(T value);
  // Throws invalid_argument unless there is one value per element.
  template <Element T>
  static Tensor of(const Shape& shape, const std::vector<T>& values);
  // The same of nested braces, converted to T: Tensor::of<float>({{1, 2}, {3, 4}}).
  template <Element T>
  static Tensor of(Matrix<T> rows) {
    return Tensor(rows);
  }
  template <Element T>
  static Tensor of(Cube<T> matrices) {
    return Tensor(matrices);
  }

  bool valid() const { return dtype_ != DType::invalid; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t elements() const { return elements_; }
  // The bytes of the elements; of strings, their characters too.
  std::size_t size_bytes() const;
  bool exclusive() const { return buffer_.exclusive(); }
  bool on_host() const { return !buffer_ || buffer_->owner().space() == MemorySpace::host; }
  const BufferRef& buffer() const { return buffer_; }

  const void* data() const { return buffer_ ? buffer_->data() : nullptr; }
  void* mutable_data() { return buffer_ ? buffer_->data() : nullptr; }

  // The elements in row-major order. Throws invalid_argument if T is not the tensor's type or the bytes
  // are not on the host.
  template <Element T>
  std::span<const T> values() const {
    check_access(dtype_of<T>);
    return {static_cast<const T*>(data()), static_cast<std::size_t>(elements_)};
  }
  template <Element T>
  std::span<T> mutable_values() {
    check_access(dtype_of<T>);
    return {static_cast<T*>(mutable_data()), static_cast<std::size_t>(elements_)};
  }
  // The only element. Throws invalid_argument unless there is exactly one of type T.
  template <Element T>
  T scalar() const {
    check_scalar(dtype_of<T>);
    return values<T>()[0];
  }

  // The same bytes under another shape. Throws invalid_argument if the element counts differ.
  Tensor reshaped(const Shape& shape) const;
  // A copy in new host memory. REQUIRES: on_host().
  Tensor clone(Allocator& allocator = heap()) const;

  // "float32[2,3]".
  std::string describe() const;

 private:
  void check_access(DType wanted) const;
  void check_scalar(DType wanted) const;
  void check_count(std::size_t values) const;
  // Tensors of one type as the parts of a tensor with one more dimension.
  static Tensor stacked(const std::vector<Tensor>& parts);
  template <Element T>
  static Tensor of_list(Row<T> values);
  template <Element T, class Lists>
  static Tensor of_lists(const Lists& lists);

  DType dtype_ = DType::invalid;
  Shape shape_;
  std::int64_t elements_ = 0;
  BufferRef buffer_;
};

// True if dtype, shape and bytes are the same. REQUIRES: both on the host.
bool identical(const Tensor& a, const Tensor& b);

template <Element T>
Tensor Tensor::scalar(T value) {
  Tensor tensor = allocate(dtype_of<T>, {});
  tensor.mutable_values<T>()[0] = std::move(value);
  return tensor;
}

template <Element T>
Tensor Tensor::of_list(Row<T> values) {
  return of<T>({static_cast<std::int64_t>(values.size())}, std::vector<T>(values));
}

template <Element T, class Lists>
Tensor Tensor::of_lists(const Lists& lists) {
  return stacked({lists.begin(), lists.end()});
}

template <Element T>
Tensor Tensor::of(const Shape& shape, const std::vector<T>& values) {
  Tensor tensor = allocate(dtype_of<T>, shape);
  tensor.check_count(values.size());
  std::size_t i = 0;
  for (auto& element : tensor.mutable_values<T>()) element = values[i++];  // vector<bool> has no span
  return tensor;
}

}  // namespace actorflow
