# SPDX-License-Identifier: Apache-2.0
"""HTML as tests read it."""

from __future__ import annotations

from html.parser import HTMLParser


class Page(HTMLParser):
    """What a page refers to, and whether its tags are in pairs."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.text, self.open = [], set(), "", []
        self.outside, self.tags = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        given = dict(attrs)
        self.ids.add(given.get("id"))
        for name in ("src", "href"):
            value = given.get(name)
            if value is not None:
                (self.links if value.startswith("#") else self.outside).append(value)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
