// The main function of every test program. When nothing could run, because the machine lacks what the
// selected tests need, it returns what CTest takes for "skipped" (SKIP_RETURN_CODE).
#include <boost/test/unit_test.hpp>

namespace {

namespace unit_test = boost::unit_test;

constexpr int skipped = 77;

struct CaseCounter final : unit_test::test_observer {
  void test_unit_finish(const unit_test::test_unit& unit, unsigned long) override {
    if (unit.p_type == unit_test::TUT_CASE) ++finished;
  }
  int finished = 0;
};

}  // namespace

int main(int argc, char** argv) {
  CaseCounter cases;
  unit_test::framework::register_observer(cases);
  const int result = unit_test::unit_test_main([] { return true; }, argc, argv);
  return result == 0 && cases.finished == 0 ? skipped : result;
}
