// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_stream.cc: Stream and the current stream.
#include "bind.h"
#include "event.h"

namespace pkg::pybind {
namespace {

Held<Stream> make_stream(const py::object& object) {
  const auto device = as_device(object);
  expect(device.has_value(), "Stream", "device", "a device", object);
  return Ref<Stream>::make(*device);
}

Held<Stream> stream_of(const char* function, const char* parameter,
                       const py::object& object, const char* expected = "a Stream") {
  expect(py::isinstance<Stream>(object), function, parameter, expected, object);
  return object.cast<Held<Stream>>();
}

EventObject submit_to(Stream* stream, const py::args& args) {
  PKG_CHECK(!args.empty(), TypeError, "submit() missing 1 required argument: 'callable'");
  return submit_callable(args[0], args[py::slice(1, std::nullopt, 1)], stream);
}

EventObject record_event(Stream& self) { return {self.record(), nullptr}; }

void wait_event(Stream& self, const py::object& event) {
  self.wait(event_of("Stream.wait_event", "event", event));
}

void wait_stream(Stream& self, const py::object& other) {
  self.wait(stream_of("Stream.wait_stream", "stream", other)->record());
}

void leave(const Stream&, const py::args&) { leave_stream(); }

Held<Stream> enter(const Held<Stream>& self) {
  enter_stream(self);
  return self;
}

EventObject submit_function(const py::object& callable, const py::object& deps,
                            const py::object& stream) {
  if (stream.is_none()) return submit_callable(callable, deps, nullptr);
  const auto found = stream_of("submit", "stream", stream, "a Stream or None");
  return submit_callable(callable, deps, found.get());
}

}  // namespace

void bind_stream(py::module_& m) {
  py::class_<Stream, Held<Stream>> cls(
      public_scope("pkg.scheduler"), "Stream", py::is_final(),
      "Stream(device='cpu')\n--\n\nAn order, not a thread: work of one stream runs first "
      "in, first out, streams run\nbeside each other on the one pool. Any thread may use "
      "any stream. `with stream:`\nmakes it current.");
  m.attr("Stream") = cls;
  cls.def(py::init(&make_stream), py::arg("device") = "cpu");
  cls.def("__repr__", [](const Stream& self) {
    return str("<pkg.scheduler.Stream at ", static_cast<const void*>(&self), ">");
  });
  cls.def("submit", &submit_to,
          "submit(self, callable, /, *deps)\n--\n\nRuns callable() on a worker after all "
          "earlier work of this stream and after `deps`.\nReturns its Event. A failure of "
          "earlier work does not stop it, one of `deps` does.");
  cls.def("synchronize", &Stream::synchronize, py::call_guard<WithoutGil>(),
          "synchronize(self)\n--\n\nWaits for the work submitted so far; raises the first "
          "error that nobody has seen.");
  cls.def("query", &Stream::query,
          "query(self)\n--\n\nWhether all work submitted so far is done.");
  cls.def("record_event", &record_event,
          "record_event(self)\n--\n\nAn Event that is done when the work submitted so far "
          "is; it never fails.");
  cls.def("wait_event", &wait_event, py::arg("event"), py::pos_only(),
          "wait_event(self, event, /)\n--\n\nLater work of this stream waits for `event`, "
          "whether it goes well or not.");
  cls.def("wait_stream", &wait_stream, py::arg("stream"), py::pos_only(),
          "wait_stream(self, stream, /)\n--\n\nLater work of this stream waits for what "
          "`stream` has to do now.");
  cls.def("record", &record_event, "record(self)\n--\n\nSee record_event.");
  cls.def("wait", &wait_event, py::arg("event"), py::pos_only(),
          "wait(self, event, /)\n--\n\nSee wait_event.");
  cls.def("__enter__", &enter,
          "__enter__(self)\n--\n\nMakes the stream current on this thread.");
  cls.def("__exit__", &leave,
          "__exit__(self, *exc)\n--\n\nMakes the stream before current again.");

  m.def("submit", &submit_function, py::arg("callable"), py::pos_only(), py::kw_only(),
        py::arg("deps") = py::none(), py::arg("stream") = py::none(),
        "submit(callable, /, *, deps=None, stream=None)\n--\n\nRuns callable() on a worker "
        "once all `deps` (an Event or a sequence of them) are done,\nand returns its "
        "Event at once. If one of them failed, callable is not run and the\nevent carries "
        "the same exception. `stream`: also after its earlier work; None means\nthe "
        "current stream of this thread, if any. TypeError for anything but a callable.");
  m.def(
      "current_stream", [] { return Held<Stream>(current_stream()); },
      "current_stream()\n--\n\nThe stream this thread submits to, or None: no order "
      "besides dependencies.");
}

}  // namespace pkg::pybind
