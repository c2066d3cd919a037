"""The site in Chromium, from a disk: it asks nobody for anything, fits a phone, and its search works."""

import pytest

from chromium import Chromium

PHONE, DESKTOP = 390, 1280


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Chromium.started(tmp_path_factory.mktemp("chromium")) as one:
        yield one


def test_every_page_fits_a_phone_and_asks_nobody(site, browser):
    wrong = {}
    for path in site.pages:
        page = browser.opened(site.folder / path, width=PHONE, height=844)
        found = [address for address in page.requests if not address.startswith(("file:", "data:", "blob:"))]
        found += page.complaints
        if (width := page.value("document.documentElement.scrollWidth")) > PHONE:
            found.append(f"{width} pixels wide")
        if found:
            wrong[path] = found
        page.close()
    assert wrong == {}


def test_a_diagram_of_mermaid_is_drawn_by_the_sites_own_script(site, browser):
    page = browser.opened(site.folder / "contributing.html", width=DESKTOP)
    page.value(
        "new Promise(done => { const look = () => document.querySelector('div.mermaid') ? done(1)"
        " : setTimeout(look, 50); look() })"
    )
    assert page.value("document.querySelector('div.mermaid').getBoundingClientRect().height") > 300
    assert [address for address in page.requests if not address.startswith(("file:", "data:", "blob:"))] == []
    page.close()


def test_the_search_finds_a_page_without_a_server(site, browser):
    page = browser.opened(site.folder / "index.html", width=DESKTOP)
    page.value(
        "(() => { const field = document.querySelector('[data-md-component=search-query]');"
        " field.focus(); field.value = 'exec format error'; field.dispatchEvent(new Event('input', {bubbles: true}));"
        " field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})) })()"
    )
    found = page.value(
        "new Promise(done => { const from = Date.now(); const look = () => {"
        " const all = [...document.querySelectorAll('.md-search-result__link')].map(one => one.innerText);"
        " if (all.length || Date.now() - from > 20000) done(all); else setTimeout(look, 50) }; look() })"
    )
    assert found
    assert "exec format error" in " ".join(found).lower()
    assert [address for address in page.requests if not address.startswith(("file:", "data:", "blob:"))] == []
    page.close()
