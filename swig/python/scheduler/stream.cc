// SPDX-License-Identifier: Apache-2.0
// swig/python/scheduler/stream.cc: streams as Python uses them.
#include "stream.h"

#include "python/tensor/py_dtype.h"
#include "submit.h"

namespace pkg::python {
StreamObject::StreamObject(PyObject* device) : stream_(Ref<Stream>::make()) {
  Device found;
  const bool fits = !device || load_device(device, &found);
  expect(fits, {"Stream", "device"}, "a device", device);
  PKG_CHECK(found.type == DeviceType::CPU, NotImplementedError,
            "[Stream] expected 'cpu', got '", found,
            "' (device). This build has no other back end.");
}

EventObject StreamObject::submit(const PyCallable& callable, Args deps) const {
  return submit_to(stream_.get(), callable, deps.tuple);
}

void StreamObject::synchronize() const {
  const Ref<Stream> keep = stream_;  // the object may be dropped while we wait
  keep->synchronize();
}

StreamObject& StreamObject::__enter__() {
  enter_stream(stream_);
  return *this;
}

void StreamObject::__exit__(Args) const { leave_stream(); }

std::string StreamObject::__repr__() const {
  return str("<pkg.scheduler.Stream at ", static_cast<const void*>(stream_.get()), ">");
}

std::optional<StreamObject> current_stream() {
  Ref<Stream> stream = pkg::current_stream();
  if (!stream) return std::nullopt;
  return StreamObject(std::move(stream));
}

}  // namespace pkg::python
