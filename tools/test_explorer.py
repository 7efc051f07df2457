#!/usr/bin/env python3
"""Tests target/explorer/explorer.html in a headless Chromium: its numbers against the command line's,
links, solving, the keyboard, no network, no stale answer. Prints cargo's "test result:" line, which
tools/test.sh counts. `--screenshots` renews those of the guide."""

import base64
import json
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from urllib.parse import urlencode

from browser import Browser

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/release/shuffledp"
ANSWERED = 'document.getElementById("result")?.getAttribute("aria-busy") === "false"'
# WebAssembly and the machine differ in the last digits of exp and log.
NEAR = 1e-11

# As a link of the page has them, and as flags.
QUESTIONS = [
    ({}, "epsilon --clients 1e6 --sampled 1000 --local-epsilon 2 --rounds 1e5 --delta 1e-8"),
    (
        {"scheme": "everyone", "clients": "10000", "randomizer": "krr", "categories": "16", "local-epsilon": "1",
         "rounds": "1", "delta": "1e-6"},
        "epsilon --clients 10000 --randomizer krr --categories 16 --local-epsilon 1 --delta 1e-6",
    ),
    (
        {"scheme": "check-in", "clients": "60000", "check-in": "0.1", "randomizer": "gaussian", "sigma": "5",
         "rounds": "1000", "delta": "1e-5"},
        "epsilon --clients 60000 --check-in 0.1 --randomizer gaussian --sigma 5 --rounds 1000 --delta 1e-5",
    ),
    (
        {"scheme": "everyone", "clients": "5000", "randomizer": "laplace", "local-epsilon": "1.5", "rounds": "20"},
        "epsilon --clients 5000 --randomizer laplace --local-epsilon 1.5 --rounds 20 --delta 1e-8",
    ),
    (
        {"find": "delta", "epsilon": "0.2", "clients": "100000", "randomizer": "rr", "rounds": "500"},
        "delta --clients 100000 --sampled 1000 --randomizer rr --local-epsilon 2 --rounds 500 --epsilon 0.2",
    ),
    (
        {"scheme": "check-in", "clients": "20000", "check-in": "0.05", "drop-out": "0.1", "rounds": "300",
         "adjacency": "zero-out", "randomizer": "r-2", "delta": "1e-6"},
        "epsilon --clients 20000 --check-in 0.05 --drop-out 0.1 --rounds 300 --adjacency zero-out --randomizer r-2 "
        "--local-epsilon 2 --delta 1e-6",
    ),
    (
        {"find": "rounds", "target-epsilon": "0.2"},
        "calibrate --solve rounds --target-epsilon 0.2 --clients 1e6 --sampled 1000 --local-epsilon 2 --delta 1e-8",
    ),
    (
        {"find": "sigma", "target-epsilon": "0.5", "scheme": "everyone", "clients": "10000", "randomizer": "gaussian",
         "rounds": "50", "delta": "1e-6"},
        "calibrate --solve sigma --target-epsilon 0.5 --clients 10000 --randomizer gaussian --rounds 50 --delta 1e-6",
    ),
]  # fmt: skip


def command_line(flags: str) -> dict:
    run = subprocess.run([PROGRAM, *flags.split(), "--json"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def same(ours: object, theirs: object, where: str = "") -> None:
    """Equal, numbers up to the last digits."""
    if isinstance(theirs, dict):
        assert isinstance(ours, dict), where
        for name in theirs:
            same(ours[name], theirs[name], f"{where}.{name}")
    elif isinstance(theirs, float) or isinstance(ours, float):
        assert abs(ours - theirs) <= NEAR * abs(theirs), f"{where}: {ours} and {theirs}"
    else:
        assert ours == theirs, f"{where}: {ours} and {theirs}"


class Page:
    def __init__(self, browser: Browser, file: Path) -> None:
        self.browser, self.file = browser, file

    def open(self, settings: dict[str, str]) -> None:
        self.browser.open(self.file.as_uri() + ("#" + urlencode(settings) if settings else ""))
        self.browser.until(ANSWERED)

    def text(self, selector: str) -> str:
        return self.browser.js(f"document.querySelector({json.dumps(selector)}).textContent")

    def values(self) -> list[str]:
        return self.browser.js('[...document.querySelectorAll("#answer .value")].map((cell) => cell.textContent)')

    def form(self, form: str) -> str:
        self.browser.js(f"document.querySelector('[data-form={form}]').click()")
        return self.text("#again")

    def type(self, name: str, text: str) -> None:
        self.browser.js(
            f"{{ const box = document.getElementById({json.dumps(name)}); box.value = {json.dumps(text)};"
            "box.dispatchEvent(new Event(box.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true})); }"
        )


def the_numbers_are_those_of_the_command_line(page: Page) -> None:
    for settings, flags in QUESTIONS:
        page.open(settings)
        theirs = command_line(flags)
        same(json.loads(page.form("json")), theirs, flags)
        if flags.startswith("calibrate"):
            shown = float(page.values()[0].split(" ")[0].replace(",", ""))
            assert abs(shown - theirs["value"]) <= NEAR * shown, (shown, theirs["value"])
        else:
            quantity = flags.split()[0]
            upper, lower = page.values()[:2]
            # Rounded in the safe direction, to five digits.
            assert theirs[quantity] * (1 - NEAR) <= float(upper) <= theirs[quantity] * 1.0002, (upper, theirs)
            if lower != "–":
                bound = theirs[f"{quantity}_lower"]
                assert bound * 0.9998 <= float(lower) <= bound * (1 + NEAR), (lower, theirs)


def the_copied_command_asks_the_same(page: Page) -> None:
    for settings, flags in (QUESTIONS[1], QUESTIONS[7]):
        page.open(settings)
        words = page.form("command").removeprefix("shuffledp ")
        same(command_line(words), command_line(flags), words)
        assert page.form("python").startswith("import shuffledp\n"), page.form("python")


def a_link_brings_the_settings_back(page: Page) -> None:
    page.open({})
    for name, text in [("find", "rounds"), ("randomizer", "krr"), ("categories", "32"), ("clients", "250000")]:
        page.type(name, text)
    page.browser.until(ANSWERED)
    link, values = page.form("link"), page.values()
    assert "categories=32" in link and "find=rounds" in link, link
    page.browser.open(link)
    page.browser.until(ANSWERED)
    assert page.values() == values and page.form("link") == link
    assert page.browser.js('document.getElementById("clients").value') == "250000"


def what_is_no_question_is_said_and_nothing_else(page: Page) -> None:
    page.open({})
    page.type("clients", "10")
    page.browser.until(ANSWERED)
    assert "sampled" in page.text("#message").lower(), page.text("#message")
    assert page.values() == []
    page.type("clients", "1e5")
    page.browser.until(ANSWERED)
    assert page.browser.js('document.getElementById("message").hidden') and len(page.values()) == 2


def keys_alone_change_a_setting(page: Page) -> None:
    page.open({})
    before = page.values()
    page.browser.js("document.body.focus()")
    reached = []
    for _ in range(12):
        page.browser.key("Tab", 9)
        reached.append(page.browser.js("document.activeElement.id || document.activeElement.className"))
        if reached[-1] == "clients-slider":
            break
    assert reached[0] == "skip" and reached[-1] == "clients-slider", reached
    page.browser.key("ArrowRight", 39)
    page.browser.until(ANSWERED)
    assert page.values() != before and page.browser.js('document.getElementById("clients").value') != "1000000"
    spoken = page.browser.js('document.activeElement.getAttribute("aria-valuetext")')
    assert "," in spoken, spoken
    unnamed = page.browser.js(
        '[...document.querySelectorAll("input, select, textarea")]'
        ".filter((box) => !box.labels.length && !box.ariaLabel).map((box) => box.id)"
    )
    assert unnamed == [], unnamed


def no_stale_answer_is_shown_as_the_answer(page: Page) -> None:
    """A slider moves through twenty values while a recorder looks at every change of the page."""
    page.open({})
    page.browser.js("""
        window.wrong = []; window.moves = 0;
        const result = document.getElementById("result");
        new MutationObserver(() => {
          if (result.getAttribute("aria-busy") === "true" || !document.querySelector("#answer .value")) return;
          const asked = JSON.parse(result.dataset.answers).given["local-epsilon"];
          if (asked !== document.getElementById("local-epsilon").value) wrong.push(asked);
        }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    """)
    for step in range(200, 240, 2):
        page.browser.js(f"""{{ const slider = document.getElementById("local-epsilon-slider");
            slider.value = {step}; slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
            moves += 1;
            if (document.getElementById("result").getAttribute("aria-busy") !== "true") wrong.push("not busy"); }}""")
        time.sleep(0.03)
    page.browser.until(ANSWERED)
    assert page.browser.js("moves") == 20 and page.browser.js("wrong") == [], page.browser.js("wrong")
    epsilon = page.browser.js('document.getElementById("local-epsilon").value')
    theirs = command_line(f"epsilon --clients 1e6 --sampled 1000 --local-epsilon {epsilon} --rounds 1e5 --delta 1e-8")
    same(json.loads(page.form("json")), theirs)


def curves_and_the_error_panel_appear(page: Page) -> None:
    page.open({"scheme": "everyone", "clients": "10000", "randomizer": "rr", "local-epsilon": "1", "rounds": "4"})
    # √(q(1−q))/(p−q)/√n with p = e/(1+e): 0.443409 / 0.462117 / 100 = 0.0095952; over four rounds half of it.
    values = page.browser.js('[...document.querySelectorAll("#error .value")].map((cell) => cell.textContent)')
    assert values == ["0.0096", "0.0048"], values
    assert "the remaining guarantee is ε ≤ 4" in page.text("#collusion"), page.text("#collusion")
    for axis in ["rounds", "clients", "local-epsilon", "epsilon"]:
        page.type("axis", axis)
        page.browser.until('document.querySelectorAll("#numbers tbody tr").length > 0 && progress.textContent === ""')
        assert page.browser.js('document.querySelector("#plot canvas") !== null'), axis
    columns = page.browser.js('document.querySelectorAll("#numbers thead th").length')
    page.browser.js('document.querySelector("#toggles input:checked").click()')
    page.browser.until(f'document.querySelectorAll("#numbers thead th").length === {columns - 1}')


def nothing_was_requested_and_nothing_went_wrong(page: Page) -> None:
    """Of all the tests before it."""
    for event in page.browser.events:
        method, what = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            url = what["request"]["url"]
            assert url.split(":")[0] in ("file", "blob", "data", "about"), url
        assert method not in ("Runtime.exceptionThrown", "Log.entryAdded"), event
    assert any(event.get("method") == "Network.requestWillBeSent" for event in page.browser.events)


TESTS = [
    the_numbers_are_those_of_the_command_line,
    the_copied_command_asks_the_same,
    a_link_brings_the_settings_back,
    what_is_no_question_is_said_and_nothing_else,
    keys_alone_change_a_setting,
    no_stale_answer_is_shown_as_the_answer,
    curves_and_the_error_panel_appear,
    nothing_was_requested_and_nothing_went_wrong,
]


def screenshots(page: Page) -> None:
    for name, width, height, scheme in [("explorer", 1280, 940, "light"), ("explorer-phone", 390, 844, "dark")]:
        page.browser.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.browser.call("Emulation.setEmulatedMedia", features=features)
        page.open({})
        page.browser.until('document.querySelectorAll("#numbers tbody tr").length > 0')
        if width < 600:
            page.browser.js('document.getElementById("result").scrollIntoView()')
        picture = page.browser.call("Page.captureScreenshot", format="png")["data"]
        (ROOT / f"docs/images/{name}.png").write_bytes(base64.b64decode(picture))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "explorer.html"
        subprocess.run([PROGRAM, "explore", "-o", file], check=True, stderr=subprocess.DEVNULL)
        browser = Browser()
        page = Page(browser, file)
        failed = 0
        try:
            if "--screenshots" in sys.argv:
                return screenshots(page)
            for test in TESTS:
                try:
                    test(page)
                    print(f"test {test.__name__} ... ok", flush=True)
                except (AssertionError, RuntimeError, KeyError, ValueError, TypeError):
                    failed += 1
                    traceback.print_exc()
                    print(f"test {test.__name__} ... FAILED", flush=True)
        finally:
            browser.close()
    print(f"test result: {'FAILED' if failed else 'ok'}. {len(TESTS) - failed} passed; {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
