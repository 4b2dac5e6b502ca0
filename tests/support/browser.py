"""A real Chromium, and a page in it with the steps that tests take."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    ElementNotInteractableException,
    JavascriptException,
    StaleElementReferenceException,
)
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.support.site import TEST_ID_MARK, Site

THROTTLE_VARIABLE = "PHRASECOM_TEST_CPU_THROTTLE"
"""Environment variable with a factor that slows the browser down: no test may depend on its speed."""
CHROMIUM_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --lang=en-US"
).split()
COLLECT_VIOLATIONS = """
window.violations = [];
addEventListener("securitypolicyviolation",
  (e) => violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
"""
DEFINE_DEEP = """
const deep = (css) => {  // "outer >> inner" looks into the shadow root of outer
  let roots = [document];
  const steps = css.split(" >> ");
  steps.forEach((step, at) => {
    roots = roots.flatMap((root) => [...root.querySelectorAll(step)]);
    if (at < steps.length - 1) roots = roots.map((one) => one.shadowRoot).filter(Boolean);
  });
  return roots;
};
"""

FIND_STEADY = """
const one = deep(arguments[0])[arguments[1]];  // there, in view, and not moved since the last call
if (!one) return null;
one.scrollIntoView({block: "center"});
const box = JSON.stringify(one.getBoundingClientRect());
const same = one.lastBox === box;
one.lastBox = box;
return same ? one : null;
"""
IS_AT_REST = """
const roots = [document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)];
return roots.every((root) => root.getAnimations().every((one) => one.playState !== "running"));
"""
MOVED_ERRORS = (ElementClickInterceptedException, ElementNotInteractableException, StaleElementReferenceException)
MAX_WAIT_SECONDS = 90.0
"""Time for something that must come: long enough for a busy machine."""
RUN_AXE = """
const done = arguments[0];
const describe = (v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.target + ' ' + n.failureSummary).join(' | ');
axe.run(document, {resultTypes: ['violations']})
  .then((r) => done(r.violations.map(describe)), (e) => done(['axe: ' + e]));
"""


def open_chromium(binary: str, driver: str, profile: str) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*CHROMIUM_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chromium = webdriver.Chrome(options=options, service=Service(driver))
    chromium.set_script_timeout(MAX_WAIT_SECONDS)
    chromium.execute_cdp_cmd("Network.enable", {})
    chromium.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": float(os.environ.get(THROTTLE_VARIABLE, "1"))})
    chromium.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": COLLECT_VIOLATIONS})
    return chromium


class Page:
    """One tab. Selectors may look into shadow roots: ``outer >> inner``."""

    def __init__(self, driver: webdriver.Chrome, base: str) -> None:
        self.driver = driver
        self.base = base

    def emulate(self, *, width: int = 1280, height: int = 900, dark: bool = False, offline: bool = False) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        network = {"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", network)

    def set_test_id(self, test_id: str) -> None:
        """Send the id in the User-Agent of every request from now on."""
        agent = self.run("return navigator.userAgent").partition(TEST_ID_MARK)[0]
        self.driver.execute_cdp_cmd("Network.setUserAgentOverride", {"userAgent": f"{agent}{TEST_ID_MARK}{test_id}"})

    def open(self, path: str) -> None:
        self.driver.get(self.base + path)

    def run(self, script: str, *args: Any) -> Any:
        return self.driver.execute_script(DEFINE_DEEP + script, *args)

    def wait_for_script(self, script: str, *args: Any, seconds: float = MAX_WAIT_SECONDS) -> Any:
        """Wait until the script returns a true value, and return that."""
        return self.wait_for(lambda: self._try_script(script, *args), f"{script} {args}", seconds)

    def _try_script(self, script: str, *args: Any) -> Any:
        try:
            return self.run(script, *args)
        except JavascriptException:
            return None

    def wait_for(self, check: Callable[[], Any], what: str, seconds: float = MAX_WAIT_SECONDS) -> Any:
        end = time.monotonic() + seconds
        while True:
            result = check()
            if result:
                return result
            if time.monotonic() > end:
                body = self.run("return document.body.innerText").strip()
                raise AssertionError(f"waited for: {what}\n{self.driver.current_url}\n{body[:2000]}")
            time.sleep(0.03)

    def wait_for_texts(self, css: str, count: int = 1) -> list[str]:
        """Wait for at least that many elements and return their texts, read at the moment when all are there."""
        texts: list[str] = self.wait_for_script(
            "const found = deep(arguments[0]);"
            "return found.length >= arguments[1] && found.map((one) => one.textContent)",
            css,
            count,
        )
        return texts

    def get_texts(self, css: str) -> list[str]:
        texts: list[str] = self.run("return deep(arguments[0]).map((one) => one.textContent)", css)
        return texts

    def get_visible_text(self) -> str:
        text: str = self.run("return document.body.innerText")
        return text

    def count_elements(self, css: str) -> int:
        return int(self.run("return deep(arguments[0]).length", css))

    def get_attribute(self, css: str, name: str) -> Any:
        """Return an attribute of the first matching element, once there is one."""
        return self.wait_for_script(
            "return deep(arguments[0]).map((one) => [one.getAttribute(arguments[1])])[0]", css, name
        )[0]

    def click(self, css: str, at: int = 0) -> None:
        """Click the middle of the element with the mouse, once it no longer moves."""
        self.wait_for(lambda: self._try_click(css, at), f"{css} to click on")

    def _try_click(self, css: str, at: int) -> bool:
        element = self._try_script(FIND_STEADY, css, at)
        try:
            if element is not None:
                element.click()
        except MOVED_ERRORS:
            return False  # redrawn or covered meanwhile: not clicked
        return element is not None

    def press(self, *keys: str) -> None:
        chain = ActionChains(self.driver, duration=0)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def tab_to(self, script: str, max_presses: int = 80) -> None:
        """Press Tab until the script is true of the focused element ``here`` (inside shadow roots too)."""
        for _ in range(max_presses):
            if self.run(
                "let here = document.activeElement; while (here?.shadowRoot?.activeElement) "
                f"here = here.shadowRoot.activeElement; return {script}"
            ):
                return
            self.press(Keys.TAB)
        raise AssertionError(f"{max_presses} times Tab did not reach {script}")

    def fill(self, css: str, text: str) -> None:
        self.click(css)
        self.run("deep(arguments[0])[0].select()", css)
        self.press(text)

    def set_value(self, css: str, value: str) -> None:
        """Set a select or a date. The click before it counts as user activation, without which Chromium's back
        button would skip the history entry."""
        self.click("header")
        self.run(
            "const e = deep(arguments[0])[0]; e.value = arguments[1];"
            "e.dispatchEvent(new Event('change', {bubbles: true}))",
            css,
            value,
        )

    def wait_until_settled(self) -> None:
        """Wait until every element has its answer."""
        self.wait_for_script("return deep('why-this-result').every((one) => one.state && one.state !== 'waiting')")

    def get_errors(self) -> list[str]:
        """Return violations of the content policy and script errors since the page was opened."""
        broken: list[str] = self.run("return window.violations || []")
        for entry in self.driver.get_log("browser"):
            message = str(entry["message"])
            if entry["level"] == "SEVERE" and "Failed to load resource" not in message:
                broken.append(message)
        return broken

    def run_axe(self, script: str) -> list[str]:
        """Return the problems that axe-core finds, once no animation runs."""
        self.wait_for_script(IS_AT_REST)
        self.driver.execute_script(script)
        return [json.dumps(problem) for problem in self.driver.execute_async_script(RUN_AXE)]


def open_fresh_page(chromium: webdriver.Chrome, site: Site) -> Iterator[Page]:
    """Open a page without stored state, faults or emulation; for fixtures to yield from."""
    page = Page(chromium, site.url)
    begin_test(page, site)
    page.open("/healthz")
    page.run("sessionStorage.clear()")
    chromium.get_log("browser")
    site.reset()
    yield page
    site.reset()
    page.emulate()


def begin_test(page: Page, site: Site) -> None:
    """Remove faults and emulation, and ignore requests of earlier tests from now on."""
    site.reset()
    site.test_id = uuid.uuid4().hex
    page.emulate()
    page.set_test_id(site.test_id)
