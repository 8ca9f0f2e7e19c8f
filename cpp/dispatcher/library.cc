// SPDX-License-Identifier: Apache-2.0
// dispatcher/library.cc: running registration blocks.
#include "dispatcher/library.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "dispatcher/opening.h"
#include "dispatcher/pending.h"
#include "scheduler/patient_lock.h"

namespace pkg {
namespace {

struct Block {
  Library::Kind kind;
  const char* ns;
  const char* key;
  Origin origin;
  std::function<void(Library&)> run;
  const char* stamp;

  /// What its stamp has else than the core's.
  std::string misfit() const {
    return stamp ? detail::difference(detail::core_stamp(), stamp) : "";
  }
};

struct Pending {
  // Threads that find the dispatcher unsettled wait on `run_mutex` until the blocks have
  // run: an op must not look missing to one thread while another registers it.
  std::recursive_mutex run_mutex;  // a block calls the dispatcher itself
  bool running = false;
  const char* where = "";  // of the block that runs, or ran last
  std::mutex mutex;        // innermost: constructors of a library being opened take it
  std::vector<Block> blocks;
};
Pending& pending() {
  static Pending* instance = new Pending;
  return *instance;
}

std::vector<Block> take_blocks(Pending& p) {
  std::lock_guard lock(p.mutex);
  std::vector<Block> blocks = std::move(p.blocks);
  p.blocks.clear();
  // Kernels and fallbacks may be linked before the definitions they belong to.
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
    return (a.kind == Library::Kind::Implementation) <
           (b.kind == Library::Kind::Implementation);
  });
  return blocks;
}

std::string readable(const std::type_info* type) {
  if (!type) return "something";
  char* text = abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr);
  const std::string name = text ? text : type->name();
  std::free(text);
  return name;
}

// Of what was found by the linker's search, or linked to the program.
void check_stamp(const Block& block) {
  const std::string what = block.misfit();
  PKG_CHECK(what.empty(), ImportError, "[register] ", block.origin.where, ": ", what);
}

void run_block(const Block& block) {
  std::optional<DispatchKey> key;
  if (block.key) {
    key = dispatch_key_from_name(block.key);
    PKG_CHECK(key, ValueError, "could not parse dispatch key: ", block.key, " (at ",
              block.origin.where, ").");
  }
  Library library(block.kind, block.ns, key, block.origin);
  block.run(library);
}

}  // namespace

Registration::Registration(Library::Kind kind, const char* ns, const char* key,
                           Origin origin, void (*block)(Library&), const char* stamp) {
  add_registration_block(kind, ns, key, origin, block, stamp);
}

void add_registration_block(Library::Kind kind, const char* ns, const char* key,
                            Origin origin, std::function<void(Library&)> block,
                            const char* stamp) {
  std::lock_guard lock(pending().mutex);
  pending().blocks.push_back({kind, ns, key, origin, std::move(block), stamp});
  Dispatcher::set_unsettled();
}

void run_pending_registrations(Dispatcher& dispatcher) {
  Pending& p = pending();
  if (!Dispatcher::unsettled()) return;
  const auto lock = detail::patient_lock(p.run_mutex);
  if (p.running) return;
  struct Running {
    Pending& p;
    Dispatcher& dispatcher;
    Running(Pending& pending, Dispatcher& found) : p(pending), dispatcher(found) {
      p.running = true;
    }
    ~Running() {
      p.running = false;
      std::lock_guard lock(p.mutex);
      if (p.blocks.empty()) dispatcher.set_settled();
    }
  } running(p, dispatcher);
  const std::vector<Block> blocks = take_blocks(p);
  for (const Block& block : blocks) {
    p.where = block.origin.where;
    check_stamp(block);
  }
  dispatcher.begin_registration();
  try {
    for (const Block& block : blocks) {
      p.where = block.origin.where;
      run_block(block);
    }
  } catch (...) {
    dispatcher.end_registration(/*keep=*/false);
    throw;
  }
  dispatcher.end_registration(/*keep=*/true);
}

std::unique_lock<std::recursive_mutex> detail::registration_lock() {
  return patient_lock(pending().run_mutex);
}

void load_library(const std::string& path) { detail::load_opened(path); }

detail::OpenedLibrary& detail::load_opened(const std::string& path,
                                           std::string_view stamp) {
  Dispatcher& dispatcher = Dispatcher::get();
  PKG_CHECK(path.find('\0') == path.npos, ValueError,
            "[load_library] expected a path without NUL, got '", path.c_str(), "\\0...'.");
  probe_ahead(path, stamp);
  // Held throughout, so that an error in the library's blocks reaches this caller and
  // not another thread that happens to call an op.
  const auto lock = patient_lock(pending().run_mutex);
  run_pending_registrations(dispatcher);  // what waits already is not of this library
  const DefinedOps defined;
  bool fresh = false;
  OpenedLibrary& library = open_library(path, stamp, &fresh);
  PKG_CHECK(library.failure.empty(), RuntimeError, library.failure,
            "\nThat was the first attempt. A library with other contents can be loaded.");
  const auto message = [&](const std::string& reason) -> const std::string& {
    return library.failure = str("[load_library] ", path, ", block at ", pending().where,
                                 ": ", reason);
  };
  try {
    run_pending_registrations(dispatcher);
  } catch (const ImportError& error) {
    throw ImportError(message(error.what()));
  } catch (const std::exception& error) {
    throw RuntimeError(message(error.what()));
  } catch (...) {
    throw RuntimeError(
        message(str("it threw ", readable(abi::__cxa_current_exception_type()),
                    ", which is no std::exception.")));
  }
  if (fresh) library.add(defined.names());
  return library;
}

Library::Library(Kind kind, const char* ns, std::optional<DispatchKey> key, Origin origin)
    : kind_(kind), ns_(ns), key_(key), origin_(origin) {
  if (kind == Kind::Definition) Dispatcher::get().claim_namespace(ns, origin.where);
}

OpBuilder Library::def(std::string_view schema) {
  PKG_CHECK(kind_ != Kind::Implementation, RuntimeError,
            "[def] not allowed in a PKG_LIBRARY_IMPL block (at ", origin_.where, ").");
  return OpBuilder(Dispatcher::get().define(ns_, parse_schema(schema), origin_.where),
                   origin_);
}

OpBuilder Library::impl_builder(std::string_view name) {
  PKG_CHECK(kind_ == Kind::Implementation && std::string_view(ns_) != "_", RuntimeError,
            "[impl] belongs in a PKG_LIBRARY_IMPL block of a real namespace (at ",
            origin_.where, ").");
  return OpBuilder(Dispatcher::get().find_mutable(name, ns_), origin_);
}

void Library::gradient(std::string_view name, std::string_view saves,
                       Gradient::Formula formula) {
  OpBuilder(Dispatcher::get().find_mutable(name, ns_), origin_).grad(saves, formula);
}

void Library::fallback(Kernel::Boxed function) {
  PKG_CHECK(kind_ == Kind::Implementation && std::string_view(ns_) == "_", RuntimeError,
            "[fallback] belongs in PKG_LIBRARY_IMPL(_, Key, m) (at ", origin_.where, ").");
  Kernel kernel;
  kernel.boxed = function;
  kernel.where = origin_.where;
  Dispatcher::get().set_fallback(*key_, kernel);
}

}  // namespace pkg
