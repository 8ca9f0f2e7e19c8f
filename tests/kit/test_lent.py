# SPDX-License-Identifier: Apache-2.0
"""What Python keeps of the arguments of overrides and callbacks, and views of what they
return: by the kit alone, as pybind11 leaves them dangling."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kit_modules import KIT

from twins import QUICK, kit_environment

HEADER = """\
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
namespace lent {
struct Fat {
  std::string text = std::string(1000, 'f');
  int number = 1;
};
class Guest {
 public:
  virtual ~Guest() = default;
  virtual void see(const Fat&) {}
  virtual void change(Fat&) {}
  virtual std::string_view label() const { return "plain"; }
  virtual const char* title() const { return "none"; }
};
inline int visit(Guest& guest) {
  Fat fat;
  guest.see(fat);
  guest.change(fat);
  const int seen = fat.number;
  fat.text = "gone";
  fat.number = -1;
  return seen;
}
inline std::string all_of(const Guest& guest) {
  const std::string_view label = guest.label();
  const std::string text = guest.title();
  return std::string(label) + "/" + text;
}
inline int lend(const std::function<void(Fat&)>& function) {
  Fat fat;
  function(fat);
  const int seen = fat.number;
  fat.text = "gone";
  return seen;
}
inline std::string view(const std::function<std::string_view()>& function) {
  const std::string_view seen = function();
  return std::string(seen);
}
inline std::string text_of(const std::function<const Fat&()>& function) {
  const Fat& fat = function();
  return fat.text;
}
inline std::string spelled(const std::function<const std::string&()>& function) {
  return function();
}
class Money {
 public:
  explicit Money(int cents) : cents(cents) {}
  std::shared_ptr<Money> operator-(std::shared_ptr<Money> other) const {
    return std::make_shared<Money>(cents - other->cents);
  }
  int cents;
};
}
"""
INTERFACE = """\
%module(directors="1") lent
%include "swigkit.i"
%{
#include "lent.h"
%}
%value(lent::Fat)
%overridable(lent::Guest)
%shared(lent::Money)
%include "lent.h"
"""
PROGRAM = """
import gc
import lent

kept = []

class Guest(lent.Guest):
    def see(self, fat):
        kept.append(fat)
    def change(self, fat):
        fat.number += 1
        kept.append(fat)
    def label(self):
        return "label " * 100
    def title(self):
        return "title " * 100

guest = Guest()
assert lent.visit(guest) == 2
gc.collect()
assert [(fat.text == "f" * 1000, fat.number) for fat in kept] == [(True, 1), (True, 2)]
for fat in kept:
    fat.text = "mine"
    assert fat.text == "mine"
assert lent.all_of(guest) == "label " * 100 + "/" + "title " * 100
assert lent.all_of(lent.Guest()) == "plain/none"

kept.clear()
assert lent.lend(kept.append) == 1
kept[0].text += "!"
assert kept[0].text == "f" * 1000 + "!"
def more(fat):
    fat.number = 5
assert lent.lend(more) == 5
for i in range(1000):
    assert lent.view(lambda: "text %d " % i * 50) == "text %d " % i * 50
assert lent.text_of(lambda: lent.Fat()) == "f" * 1000
assert lent.spelled(lambda: "abc" * 100) == "abc" * 100

assert (lent.Money(5) - lent.Money(3)).cents == 2
try:
    lent.Money(5) - None
except TypeError as error:
    assert "unsupported operand" in str(error), error
else:
    assert False
print("fine")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the module built."""
    made = tmp_path_factory.mktemp("lent")
    (made / "lent.h").write_text(HEADER)
    (made / "lent.i").write_text(INTERFACE)
    done = subprocess.run(
        [sys.executable, KIT, "wrap", "lent.i", QUICK],
        cwd=made,
        env={**os.environ, **kit_environment()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return made


def test_what_is_kept_of_a_call_is_there_afterwards(folder: Path) -> None:
    """In a process of its own: what is wrong here is a crash."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", PROGRAM],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "fine\n")
