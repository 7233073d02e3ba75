#include "dataflow/values/exception_status.h"

#include <exception>
#include <new>

namespace actorflow {

Status current_exception_status() {
  try {
    throw;
  } catch (const Error& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return {Code::resource_exhausted, "out of memory"};
  } catch (const std::exception& error) {
    return {Code::internal, error.what()};
  } catch (...) {
    return {Code::internal, "an exception of unknown type"};
  }
}

}  // namespace actorflow
