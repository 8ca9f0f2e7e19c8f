// SPDX-License-Identifier: Apache-2.0
// yaml-cpp's own headers (Debian: libyaml-cpp-dev), read as they are.
%module(directors="1") yamlcpp
%include "swigkit.i"
%{
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>
%}
%exceptions(YAML::Exception, "YamlError", PyExc_ValueError)
%exceptions(YAML::ParserException, "ParserError", "YamlError")
%exceptions(YAML::BadFile, "BadFile", "YamlError")
%exceptions(YAML::InvalidNode, "InvalidNode", "YamlError")
%exceptions(YAML::BadConversion, "BadConversion", "YamlError")
%value(YAML::Node)
%feature("valuewrapper") YAML::Node;  // its assignment writes into the tree
%overridable(YAML::EventHandler)
%releases_gil(YAML::Load)
%releases_gil(YAML::Parser::HandleNextDocument)
%keeps_alive(YAML::Parser::Parser, 1, 2)
%keeps_alive(YAML::Parser::Load, 1, 2)

// Iterators, streams to write to, and what == does as well.
%ignore YAML::Node::Node(const detail::iterator_value &);
%ignore YAML::Node::begin;
%ignore YAML::Node::end;
%ignore YAML::Node::is;
%ignore YAML::Node::reset;
%ignore YAML::Node::operator!;
%ignore YAML::Node::operator[];
%ignore YAML::Parser::PrintTokens;
%ignore YAML::operator<<;
%rename(__len__) YAML::Node::size;
%rename(mark) YAML::Node::Mark;
%namewarn("") as;  // a keyword of Python, but not the name of a template's instance
%extend YAML::Node {
  YAML::Node __getitem__(const std::string &key) { return std::as_const(*$self)[key]; }
  YAML::Node __getitem__(size_t index) {
    if (index >= $self->size()) throw std::out_of_range("no item " + std::to_string(index));
    return (*$self)[index];
  }
  void __setitem__(const std::string &key, const Node &value) { (*$self)[key] = value; }
}
namespace std {
class istream { istream(); };
struct istringstream : istream { istringstream(const std::string &text); };
}
#define YAML_CPP_API
%include <yaml-cpp/mark.h>
%include <yaml-cpp/emitterstyle.h>
%include <yaml-cpp/node/type.h>
%include <yaml-cpp/node/node.h>
%include <yaml-cpp/node/parse.h>
%include <yaml-cpp/node/emit.h>
%include <yaml-cpp/anchor.h>
%include <yaml-cpp/eventhandler.h>
%include <yaml-cpp/parser.h>
%template(Node) YAML::Node::Node<std::string>;
%template(Node) YAML::Node::Node<std::vector<int>>;
%template(Node) YAML::Node::Node<double>;
%template(remove) YAML::Node::remove<std::string>;
%template(as_bool) YAML::Node::as<bool>;
%template(as_int) YAML::Node::as<int>;
%template(as_float) YAML::Node::as<double>;
%template(as_str) YAML::Node::as<std::string>;
%template(as_list) YAML::Node::as<std::vector<YAML::Node>>;
%template(as_ints) YAML::Node::as<std::vector<int>>;
%template(as_dict) YAML::Node::as<std::map<std::string, YAML::Node>>;
