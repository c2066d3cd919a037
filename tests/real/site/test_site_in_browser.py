"""The site in Chromium, from a disk: it asks nobody for anything, fits a phone, and its search works."""

import pytest

PHONE, DESKTOP = 390, 1280
PAPER = "getComputedStyle(document.querySelector('.drawing rect')).fill"


def outside(page):
    """The requests that leave this machine."""
    return [address for address in page.requests if not address.startswith(("file:", "data:", "blob:"))]


def test_every_page_fits_a_phone_and_asks_nobody(site, browser):
    wrong = {}
    for path in site.pages:
        page = browser.opened(site.folder / path, width=PHONE, height=844)
        found = [*outside(page), *page.complaints]
        if (width := page.value("document.documentElement.scrollWidth")) > PHONE:
            found.append(f"{width} pixels wide")
        if found:
            wrong[path] = found
        page.close()
    assert wrong == {}


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
    assert found[0].startswith("Troubleshooting") or found[0].startswith("exec format error"), found[:3]
    assert outside(page) == []
    page.close()


def test_the_colours_are_those_of_the_system_until_the_reader_chooses(site, browser):
    seen = {}
    for dark in (False, True):
        page = browser.opened(site.folder / "index.html", width=DESKTOP, dark=dark)
        seen[dark] = page.value(PAPER)
        page.close()
    assert seen[False] != seen[True]
    page = browser.opened(site.folder / "index.html", width=DESKTOP)
    # From the system's colours to the light ones, then to the dark ones.
    for _ in range(2):
        page.value("document.querySelector('form[data-md-component=palette] label:not([hidden])').click()")
    assert page.value(PAPER) == seen[True]
    page.close()


@pytest.mark.parametrize("moment", [0, 300, 900, 1500, 60000], ids="{} ms".format)
def test_the_picture_shows_the_whole_diff_at_every_moment(site, browser, moment):
    page = browser.opened(site.folder / "index.html", width=DESKTOP)
    moved = page.value(
        "(() => { const all = document.getAnimations().filter(one => one.effect.target.closest('svg.diff'));"
        f" for (const one of all) {{ one.pause(); one.currentTime = {moment} }} return all.length }})()"
    )
    lines = page.value(
        "[...document.querySelectorAll('svg.diff text, svg.diff rect')].map(one => { const is = getComputedStyle(one);"
        " return [one.tagName, one.textContent, is.opacity, is.visibility, one.getBBox().height > 0] })"
    )
    page.close()
    assert moved == sum(1 for line in lines if line[1].startswith("+")) > 10
    assert [line for line in lines if line[2:] != ["1", "visible", True]] == []
