// That headers and library are of one build: checked where they are installed.
//
// The installed file of this name (apps/cmake/same_build.h.in) refers to a symbol that only the library
// of the same build has. The project's own programs have nothing to check.
#pragma once
