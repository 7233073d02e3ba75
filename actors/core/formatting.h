// fmt and spdlog, for precompiled headers. spdlog calls fmt by a template, which would compile all of fmt, to the last
// digit of a float, in every file that logs: formatting.cpp has it once.
#pragma once

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

extern template void fmt::detail::vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                                   basic_format_args<buffer_context<char>>, locale_ref);
