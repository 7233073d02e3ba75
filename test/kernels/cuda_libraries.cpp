// cuBLAS and cuDNN are loaded with all functions that kernels call, or it is said what to install. Needs
// no GPU; skipped, visibly, in builds without them.
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/support/status_of.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cublas.h"
#include "kernels/devices/cublas_lt.h"
#endif
#ifdef ACTORFLOW_CUDNN
#include "kernels/devices/cudnn.h"
#endif

using namespace actorflow;
using namespace actorflow::test;

namespace {

#ifdef ACTORFLOW_CUDA
constexpr bool has_cublas = true;
void use_cublas() {
  BOOST_TEST(cublas().get_status_string(CUBLAS_STATUS_SUCCESS) != std::string());
  BOOST_TEST(cublas_lt() != nullptr);  // cuBLAS needs it, too
}
#else
constexpr bool has_cublas = false;
void use_cublas() {}
#endif

#ifdef ACTORFLOW_CUDNN
constexpr bool has_cudnn = true;
void use_cudnn() { BOOST_TEST(cudnn().get_error_string(CUDNN_STATUS_SUCCESS) != std::string()); }
#else
constexpr bool has_cudnn = false;
void use_cudnn() {}
#endif

template <bool present>
boost::test_tools::assertion_result built_with(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(present);
  result.message() << "this build has no such library";
  return result;
}

void expect_what_to_install(const Status& status, const std::string& library,
                            const std::string& package) {
  BOOST_TEST_MESSAGE(status.to_string());
  BOOST_TEST((status.code == Code::failed_precondition), status.to_string());
  for (const auto& part : {library, package, std::string("LD_LIBRARY_PATH")})
    BOOST_TEST(status.message.find(part) != std::string::npos,
               status.message << " lacks '" << part << "'");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cuda_libraries)

BOOST_AUTO_TEST_CASE(cublas_has_all_functions_or_it_is_said_what_to_install,
                     *boost::unit_test::precondition(built_with<has_cublas>)) {
  const Status status = status_of(use_cublas);
  if (!status.ok()) expect_what_to_install(status, "libcublas.so.", "libcublas-");
}

BOOST_AUTO_TEST_CASE(cudnn_has_all_functions_or_it_is_said_what_to_install,
                     *boost::unit_test::precondition(built_with<has_cudnn>)) {
  const Status status = status_of(use_cudnn);
  if (!status_of(use_cublas).ok())
    expect_what_to_install(status, "libcublas.so.", "libcublas-");  // which cuDNN needs
  else if (!status.ok())
    expect_what_to_install(status, "libcudnn.so.", "libcudnn");
}

BOOST_AUTO_TEST_SUITE_END()
