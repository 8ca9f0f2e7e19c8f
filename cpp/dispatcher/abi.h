// SPDX-License-Identifier: Apache-2.0
// dispatcher/abi.h: which C++ interface a library of ops was compiled for.  Every file that
// includes dispatcher/library.h carries it as a text, the stamp, which the core compares
// with its own before anything of the library runs.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "dispatcher/operator.h"

/// Raised when compiled libraries of ops have to be compiled again for a reason that the
/// other parts of the stamp do not show: a key or a member of another meaning.
#ifndef PKG_CXX_ABI
#define PKG_CXX_ABI 1
#endif

namespace pkg::detail {

/// What both sides must have alike; the one list of it.
struct AbiPart {
  std::string_view name;
  size_t value;
};
inline constexpr std::string_view kAbiKind = "C++ interface";
inline constexpr auto kAbiParts = std::to_array<AbiPart>({
    {kAbiKind, PKG_CXX_ABI},
#ifdef _GLIBCXX_USE_CXX11_ABI
    {"_GLIBCXX_USE_CXX11_ABI", _GLIBCXX_USE_CXX11_ABI},
#endif
    {"dispatch keys", size_t(kNumKeys)},
    {"parameters of an op", kMaxParameters},
    {"kinds of values", std::variant_size_v<Value>},
    {"bytes of a Value", sizeof(Value)},
    {"bytes of a Stack", sizeof(Stack)},
    {"bytes of a Spec", sizeof(Spec)},
    {"bytes of a TensorImpl", sizeof(TensorImpl)},
    {"bytes of an Argument", sizeof(Argument)},
    {"bytes of an Operator", sizeof(Operator)},
    {"bytes of a Kernel", sizeof(Kernel)},
});

/// "C++ interface 1, dispatch keys 6, ...", and zeros up to the end.
using AbiStamp = std::array<char, 384>;
consteval AbiStamp abi_stamp() {
  AbiStamp stamp{};
  size_t at = 0;
  for (const AbiPart& part : kAbiParts) {
    if (at) stamp.at(at++) = ',', stamp.at(at++) = ' ';
    for (const char c : part.name) stamp.at(at++) = c;
    stamp.at(at++) = ' ';
    size_t scale = 1;
    while (part.value / scale >= 10) scale *= 10;
    for (; scale; scale /= 10) stamp.at(at++) = char('0' + part.value / scale % 10);
  }
  stamp.at(at + 1) = 0;  // does not compile when the room is too small
  return stamp;
}

/// The section of a library's file that holds its stamps, one behind the other; that of C
/// (c_api/c_api.h) is "C interface 2".
#define PKG_STAMP_SECTION ".pkg_stamp"

/// ImportError unless the stamps of this kind in the file, if it has any, are `ours`.
/// Nothing of the file is run.  What is no shared library is left to dlopen(3).
void check_stamps_of(const std::string& path, std::string_view ours);
/// What differs, for an error: "expected ..., got ..."; empty when they are alike.
std::string difference(std::string_view ours, std::string_view theirs);
/// The stamp of the core.
std::string_view core_stamp();
/// The file of an open library.
std::string file_of(void* library);

}  // namespace pkg::detail

#ifdef PKG_BUILDS_CORE
#define PKG_STAMP_ nullptr  // it is what the others are compared with
#else
namespace pkg::detail {
[[gnu::used,
  gnu::section(PKG_STAMP_SECTION)]] static constexpr AbiStamp kStamp = abi_stamp();
}
#define PKG_STAMP_ ::pkg::detail::kStamp.data()
#endif
