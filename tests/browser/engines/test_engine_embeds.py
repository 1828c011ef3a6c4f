"""Embeds on a page of another site, in Chromium, Firefox and WebKit."""

import pytest
from embedding import embedding_page, use_embeds
from hosts import serve_host

pytestmark = pytest.mark.long
ALL = ("exercise", "live", "chart", "timeline", "question", "own")


def test_on_a_page_of_another_site(engine, site, answers, keep, tmp_path):
    with serve_host(tmp_path) as host:
        engine.open(host.put("index.html", embedding_page(site.url)))
        use_embeds(engine, answers, ALL)
        engine.run("scrollTo(0, 0);")
        keep("embeds")


def test_in_a_sandbox_without_an_origin(engine, site, answers, tmp_path):
    with serve_host(tmp_path) as host:
        engine.open(host.put("index.html", embedding_page(site.url, 'sandbox="allow-scripts"')))
        use_embeds(engine, answers, ALL[:-1])
