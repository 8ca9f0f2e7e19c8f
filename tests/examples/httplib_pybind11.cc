// SPDX-License-Identifier: Apache-2.0
// docs/examples/httplib, as one writes it with pybind11.
#include <httplib.h>
#include <pybind11/functional.h>
#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace py::literals;
using httplib::Client, httplib::Error, httplib::Request, httplib::Response, httplib::Result;
using httplib::Server;
using File = httplib::MultipartFormData;
using Released = py::call_guard<py::gil_scoped_release>;
using HandlerResponse = Server::HandlerResponse;
// A Response & would reach Python as a copy, on which nothing that is set has an effect.
using Handler = std::function<void(const Request&, Response*)>;
using HandlerWithResponse = std::function<HandlerResponse(const Request&, Response*)>;

PYBIND11_MODULE(httplib, m) {
  py::native_enum<Error>(m, "Error", "enum.IntEnum")
      .value("Success", Error::Success)
      .value("Unknown", Error::Unknown)
      .value("Connection", Error::Connection)
      .value("BindIPAddress", Error::BindIPAddress)
      .value("Read", Error::Read)
      .value("Write", Error::Write)
      .value("ExceedRedirectCount", Error::ExceedRedirectCount)
      .value("Canceled", Error::Canceled)
      .value("SSLConnection", Error::SSLConnection)
      .value("SSLLoadingCerts", Error::SSLLoadingCerts)
      .value("SSLServerVerification", Error::SSLServerVerification)
      .value("UnsupportedMultipartBoundaryChars", Error::UnsupportedMultipartBoundaryChars)
      .value("Compression", Error::Compression)
      .value("ConnectionTimeout", Error::ConnectionTimeout)
      .finalize();
  py::class_<File>(m, "MultipartFormData")
      .def(py::init<>())
      .def_readwrite("name", &File::name)
      .def_readwrite("content", &File::content)
      .def_readwrite("filename", &File::filename)
      .def_readwrite("content_type", &File::content_type);
  py::class_<Request>(m, "Request")
      .def(py::init<>())
      .def_readwrite("method", &Request::method)
      .def_readwrite("path", &Request::path)
      .def_readwrite("body", &Request::body)
      .def_readwrite("ranges", &Request::ranges)
      .def(
          "get_header_value",
          [](const Request& self, const std::string& key, size_t id) {
            return self.get_header_value(key, id);
          },
          "key"_a, "id"_a = 0)
      .def("set_header", &Request::set_header, "key"_a, "val"_a)
      .def("has_param", &Request::has_param, "key"_a)
      .def("get_param_value", &Request::get_param_value, "key"_a, "id"_a = 0)
      .def("get_file_value", &Request::get_file_value, "key"_a);
  py::class_<Response>(m, "Response")
      .def(py::init<>())
      .def_readwrite("status", &Response::status)
      .def_readwrite("body", &Response::body)
      .def(
          "get_header_value",
          [](const Response& self, const std::string& key, size_t id) {
            return self.get_header_value(key, id);
          },
          "key"_a, "id"_a = 0)
      .def("set_header", &Response::set_header, "key"_a, "val"_a)
      .def("set_redirect", &Response::set_redirect, "url"_a, "status"_a = 302)
      .def(
          "set_content",
          py::overload_cast<const std::string&, const std::string&>(&Response::set_content),
          "s"_a, "content_type"_a);

  py::class_<Server> server(m, "Server");
  py::native_enum<HandlerResponse>(server, "HandlerResponse", "enum.IntEnum")
      .value("Handled", HandlerResponse::Handled)
      .value("Unhandled", HandlerResponse::Unhandled)
      .finalize();
  const auto by_pointer = [](Handler handler) {
    return [handler](const Request& q, Response& r) { handler(q, &r); };
  };
  server.def(py::init<>())
      .def(
          "Get",
          [by_pointer](Server& self, const std::string& pattern, Handler handler)
              -> Server& { return self.Get(pattern, by_pointer(handler)); },
          "pattern"_a, "handler"_a)
      .def(
          "Post",
          [by_pointer](Server& self, const std::string& pattern, Handler handler)
              -> Server& { return self.Post(pattern, by_pointer(handler)); },
          "pattern"_a, "handler"_a)
      .def(
          "set_pre_routing_handler",
          [](Server& self, HandlerWithResponse handler) -> Server& {
            return self.set_pre_routing_handler(
                [handler](const Request& q, Response& r) { return handler(q, &r); });
          },
          "handler"_a)
      .def("set_logger", &Server::set_logger, "logger"_a)
      .def(
          "bind_to_any_port",
          [](Server& self, const std::string& host) { return self.bind_to_any_port(host); },
          "host"_a)
      .def("listen_after_bind", &Server::listen_after_bind, Released())
      .def("is_running", &Server::is_running)
      .def("stop", &Server::stop, Released());

  py::class_<Result>(m, "Result")
      .def("__bool__", &Result::operator bool)
      .def("error", &Result::error)
      .def(
          "value",
          [](const Result& self) -> const Response& {
            if (!self) throw std::runtime_error("no response: " + to_string(self.error()));
            return self.value();
          },
          py::return_value_policy::reference_internal);
  using Progress = std::function<bool(uint64_t, uint64_t)>;
  using Text = const std::string&;
  py::class_<Client>(m, "Client")
      .def(py::init<Text, int>(), "host"_a, "port"_a)
      .def("Get", py::overload_cast<Text>(&Client::Get), "path"_a, Released())
      .def("Get", py::overload_cast<Text, Progress>(&Client::Get), "path"_a, "progress"_a,
           Released())
      .def("Post", py::overload_cast<Text, Text, Text>(&Client::Post), "path"_a, "body"_a,
           "content_type"_a, Released())
      .def("Post", py::overload_cast<Text, const std::vector<File>&>(&Client::Post),
           "path"_a, "items"_a, Released())
      .def("send", py::overload_cast<const Request&>(&Client::send), "req"_a, Released())
      .def("set_hostname_addr_map", &Client::set_hostname_addr_map, "addr_map"_a)
      .def("set_basic_auth", &Client::set_basic_auth, "username"_a, "password"_a);
}
