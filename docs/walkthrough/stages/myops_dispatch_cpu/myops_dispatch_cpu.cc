// SPDX-License-Identifier: Apache-2.0
#include "myops_dispatch_cpu.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "scheduler/hooks.h"
#include "shared/numbers.h"
#include "shared/python.h"

namespace myops_dispatch_cpu {

using Key = std::pair<std::string, std::string>;  // name, backend

struct Entry {
  Key key;
  Kernel kernel;
  std::string place;
  std::shared_ptr<const Entry> before;
};

namespace {

using Table = std::map<Key, std::shared_ptr<const Entry>>;

// Both live as long as the process: kernels run on any thread, also at exit.
std::mutex& lock() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
Table& table() {
  static auto* entries = new Table;
  return *entries;
}

std::shared_ptr<const Entry> find(const Key& key) {
  std::lock_guard guard(lock());
  const auto found = table().find(key);
  return found == table().end() ? nullptr : found->second;
}

// How many edits make one word of the other.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string missing(const Key& key) {
  std::set<std::string> names;
  std::string backends, nearest;
  std::lock_guard guard(lock());
  for (const auto& [each, entry] : table()) {
    names.insert(each.first);
    if (each.first == key.first) backends += (backends.empty() ? "" : ", ") + each.second;
  }
  if (!backends.empty()) {
    return "No op registered: " + key.first + " for backend " + key.second +
           ". It exists for: " + backends + ".";
  }
  for (const std::string& name : names) {
    if (nearest.empty() || distance(name, key.first) < distance(nearest, key.first)) {
      nearest = name;
    }
  }
  return "No op registered: " + key.first + ". Nearest: " + nearest + ". " +
         std::to_string(names.size()) + " ops are registered.";
}

Kernel of_core(const char* name, stages::Operation op) {
  return [=](double a, double b) {
    std::ostringstream line;
    line << "[C++] executing " << name << "(" << a << "," << b << ")\n";
    stages::print(line.str());
    return stages::value_of(op(stages::tensor_of(a), stages::tensor_of(b)));
  };
}

}  // namespace

Registration register_op(const std::string& name, Kernel fn, const std::string& backend,
                         bool overwrite) {
  const Key key(name, backend);
  auto entry = std::make_shared<Entry>(Entry{key, std::move(fn), pkg::call_site(), {}});
  std::lock_guard guard(lock());
  auto& slot = table()[key];
  if (slot && !overwrite) {
    throw std::runtime_error("[register_op] expected a new op, got '" + name + "' of " +
                             backend + ", registered at " + slot->place + " and now at " +
                             entry->place + ". Hint: overwrite=True.");
  }
  entry->before = slot;
  slot = entry;
  return Registration(entry);
}

void Registration::remove() {
  std::lock_guard guard(lock());
  const auto found = table().find(entry_->key);
  if (found == table().end() || found->second != entry_) {
    throw std::runtime_error("[remove] expected '" + entry_->key.first +
                             "' as registered at " + entry_->place +
                             ", got another registration.");
  }
  // The entry itself lives on in this object: no kernel dies under the lock.
  if (entry_->before) found->second = entry_->before;
  else table().erase(found);
}

double run_op(const std::string& name, double a, double b, const std::string& backend) {
  const Key key(name, backend);
  const auto entry = find(key);
  if (!entry) throw OpLookupError(missing(key));
  return entry->kernel(a, b);
}

void init_ops() {
  if (!find({"add", "CPU"})) register_op("add", of_core("add", stages::add));
  if (!find({"mul", "CPU"})) register_op("mul", of_core("mul", stages::mul));
}

void drop_ops() {
  Table dropped;  // dies after the lock is given back
  std::lock_guard guard(lock());
  dropped.swap(table());
}

}  // namespace myops_dispatch_cpu
