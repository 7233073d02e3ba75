#include "test/apps/launch/support/hostile_texts.h"

#include <boost/test/unit_test.hpp>

#include "test/apps/launch/support/launched.h"

namespace actorflow::test {
namespace {

const std::vector<std::string> texts{"",
                                     " ",
                                     "two words",
                                     "  spaces at both ends  ",
                                     "'",
                                     "it's",
                                     "\"quoted\"",
                                     "$HOME ${HOME} $(id) `id`",
                                     "back\\slash \\n",
                                     "new\nline\n",
                                     "tab\tand\rreturn",
                                     "Grüße, 世界, 𝄞",
                                     "*",
                                     "~/?[a-z]{1,2}",
                                     "; rm -rf /nowhere; exit 9",
                                     "a && b || c & d | e > f < g",
                                     "!history !!",
                                     "#comment",
                                     "-np --help -- -oProxyCommand=sh",
                                     "a=b=c",
                                     "%s %n %%",
                                     "\x01\x7f\xff\xfe"};

}  // namespace

void expect_hostile_texts_arrive(std::vector<std::string> flags) {
  const Folder folder;
  std::vector<std::string> program{
      "/bin/sh", "-c",
      "printf '%s\\0' \"$@\" > \"$OUT/arguments\"; "
      "export LC_ALL=C; env -0 | grep -az ^HOSTILE | sort -z > \"$OUT/variables\"",
      "sh"};
  std::string arguments, variables;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string variable =
        "HOSTILE_" + std::string(1, static_cast<char>('A' + i)) + "=" + texts[i];
    flags.insert(flags.end(), {"--env", variable});
    program.push_back(texts[i]);
    arguments += texts[i] + '\0';
    variables += variable + '\0';
  }
  flags.insert(flags.end(), {"--env", "OUT=" + folder.path()});
  Launched job(flags, program);
  BOOST_TEST(job.wait() == 0, job.output());
  BOOST_TEST((read_file(folder.file("arguments")) == arguments));
  BOOST_TEST((read_file(folder.file("variables")) == variables));
}

}  // namespace actorflow::test
