#include "actors/core/formatting.h"

template void fmt::detail::vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                            basic_format_args<buffer_context<char>>, locale_ref);
