#include "actors/jobs/engine/parts/operator_failure.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "actors/runtime/storage.h"
#include "schema/records/excerpt.h"

namespace actorflow {

void throw_operator_failure(const PlanOperator& op) {
  try {
    throw;
  } catch (const OperatorFailure&) {
    throw;
  } catch (const StorageError&) {  // of the engine's own files, which may be read meanwhile
    throw;
  } catch (const Error& error) {
    throw OperatorFailure(error.code(), fmt::format("{}: {}", op.to_string(), error.what()));
  } catch (const std::bad_alloc&) {
    throw OperatorFailure(Code::resource_exhausted, op.to_string() + ": there is no memory left");
  } catch (const std::exception& error) {
    throw OperatorFailure(Code::unknown, fmt::format("{} threw: {}", op.to_string(), error.what()));
  } catch (...) {
    throw OperatorFailure(Code::unknown, op.to_string() + " threw something that is no std::exception");
  }
}

OperatorFailure at_record(const OperatorFailure& failure, const std::string& place,
                          std::string_view record) {
  return OperatorFailure(failure.code(),
                         fmt::format("{}; {}: \"{}\"", failure.what(), place, excerpt(record)), place);
}

}  // namespace actorflow
