// SPDX-License-Identifier: Apache-2.0
// cpp-httplib (Debian: libcpp-httplib-dev).  SWIG cannot read a default value with braces,
// which its header has, so what the module offers is declared here, as it stands there.
%module httplib
%include "swigkit.i"
%{
#include <httplib.h>
%}
%value(httplib::MultipartFormData)
%value(httplib::Request)
%value(httplib::Response)
%value(httplib::Result)
%releases_gil(httplib::Server::~Server)
%releases_gil(httplib::Server::listen_after_bind)
%releases_gil(httplib::Server::stop)
%releases_gil(httplib::Client::Get)
%releases_gil(httplib::Client::Post)
%releases_gil(httplib::Client::send)
%extend httplib::Result {
  const Response &value() const {
    if (!*$self) throw std::runtime_error("no response: " + to_string($self->error()));
    return $self->value();
  }
}
namespace httplib {
enum class Error {
  Success, Unknown, Connection, BindIPAddress, Read, Write, ExceedRedirectCount, Canceled,
  SSLConnection, SSLLoadingCerts, SSLServerVerification, UnsupportedMultipartBoundaryChars,
  Compression, ConnectionTimeout
};
struct MultipartFormData { std::string name, content, filename, content_type; };
struct Request {
  std::string method, path, body;
  std::vector<std::pair<ssize_t, ssize_t>> ranges;
  std::string get_header_value(const std::string &key, size_t id = 0) const;
  void set_header(const std::string &key, const std::string &val);
  bool has_param(const std::string &key) const;
  std::string get_param_value(const std::string &key, size_t id = 0) const;
  MultipartFormData get_file_value(const std::string &key) const;
};
struct Response {
  int status;
  std::string body;
  std::string get_header_value(const std::string &key, size_t id = 0) const;
  void set_header(const std::string &key, const std::string &val);
  void set_redirect(const std::string &url, int status = 302);
  void set_content(const std::string &s, const std::string &content_type);
};
using Logger = std::function<void(const Request &, const Response &)>;
class Server {
 public:
  enum class HandlerResponse { Handled, Unhandled };
  using Handler = std::function<void(const Request &, Response &)>;
  using HandlerWithResponse = std::function<HandlerResponse(const Request &, Response &)>;
  Server &Get(const std::string &pattern, Handler handler);
  Server &Post(const std::string &pattern, Handler handler);
  Server &set_pre_routing_handler(HandlerWithResponse handler);
  Server &set_logger(Logger logger);
  int bind_to_any_port(const std::string &host);
  bool listen_after_bind();
  bool is_running() const;
  void stop();
};
class Result {
 public:
  Result() = delete;
  operator bool() const;
  Error error() const;
};
class Client {
 public:
  Client(const std::string &host, int port);
  Result Get(const std::string &path);
  Result Get(const std::string &path, std::function<bool(uint64_t, uint64_t)> progress);
  Result Post(const std::string &path, const std::string &body, const std::string &content_type);
  Result Post(const std::string &path, const std::vector<MultipartFormData> &items);
  Result send(const Request &req);
  void set_hostname_addr_map(std::map<std::string, std::string> addr_map);
  void set_basic_auth(const std::string &username, const std::string &password);
};
}
