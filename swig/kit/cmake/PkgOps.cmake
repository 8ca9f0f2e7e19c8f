# SPDX-License-Identifier: Apache-2.0
# A library of ops, to be loaded with pkg.ops.load_library() or pkg.load_op_library():
#
#   find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
#   execute_process(COMMAND ${Python_EXECUTABLE} -m pkg --cmake-dir
#                   OUTPUT_VARIABLE CMAKE_OF_PKG OUTPUT_STRIP_TRAILING_WHITESPACE)
#   include(${CMAKE_OF_PKG}/PkgOps.cmake)
#   pkg_custom_op_library(NAME zero_out SRCS zero_out.cc STYLE tf1)
#
# The target is an ordinary one and its file zero_out.so, in the folder of the build.
cmake_minimum_required(VERSION 3.20)
include_guard()

# What `python -m pkg OPTION...` prints, as a list.
function(pkg_flags variable)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -m pkg ${ARGN}
    OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "python -m pkg ${ARGN} ended with ${failed}: find_package(Python) "
                        "must come first, and find the Python that pkg is installed for.")
  endif()
  separate_arguments(flags UNIX_COMMAND "${printed}")
  set(${variable} "${flags}" PARENT_SCOPE)
endfunction()

# pkg_custom_op_library(NAME name SRCS source... [STYLE tf1|torch] [ARCHIVES target...])
#
# STYLE: of sources with another library's names.  ARCHIVES: static libraries of ops and
# kernels, linked whole: nothing calls what registers itself, so the linker would leave it out.
function(pkg_custom_op_library)
  cmake_parse_arguments(PARSE_ARGV 0 op "" "NAME;STYLE" "SRCS;ARCHIVES")
  if(NOT op_NAME OR op_UNPARSED_ARGUMENTS OR NOT (op_SRCS OR op_ARCHIVES))
    message(FATAL_ERROR "pkg_custom_op_library: expected NAME, and SRCS or ARCHIVES, got "
                        "'${ARGV}'.")
  endif()
  if(NOT op_SRCS)
    set(nothing "${CMAKE_CURRENT_BINARY_DIR}/${op_NAME}_nothing.cc")
    file(GENERATE OUTPUT "${nothing}" CONTENT "")
    set(op_SRCS "${nothing}")
  endif()
  add_library(${op_NAME} MODULE ${op_SRCS})
  set_target_properties(${op_NAME} PROPERTIES PREFIX "" SUFFIX ".so")
  pkg_op_flags(${op_NAME} "${op_STYLE}")
  foreach(archive IN LISTS op_ARCHIVES)
    add_dependencies(${op_NAME} ${archive})
    target_link_libraries(${op_NAME} PRIVATE
      -Wl,--whole-archive "$<TARGET_FILE:${archive}>" -Wl,--no-whole-archive)
  endforeach()
  # Behind what needs it.
  pkg_flags(link --ldflags)
  target_link_libraries(${op_NAME} PRIVATE ${link})
endfunction()

# pkg_op_flags(TARGET [STYLE]): compiles a target's sources as those of a library of ops.
function(pkg_op_flags target)
  pkg_flags(compile --cflags)
  target_compile_options(${target} PRIVATE ${compile})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(ARGC GREATER 1 AND NOT "${ARGV1}" STREQUAL "")
    pkg_flags(names --compat-include "${ARGV1}")
    target_include_directories(${target} PRIVATE ${names})
  endif()
endfunction()
