"""Chromium without a window, driven over a pipe by the DevTools protocol
(https://chromedevtools.github.io/devtools-protocol/). Nothing but Python's own library is needed."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

KEY_CODES = {"Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
             "ArrowDown": 40, "Tab": 9, "PageDown": 34}


class Browser:
    """Use with `with`. Errors and requests that a page made are collected in `errors` and `requests`."""

    def __init__(self, program="chromium"):
        self.program = program
        self.errors, self.requests = [], []
        self.events = []
        self.number = 0
        self.buffer = b""

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="hearth-browser-")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def pipes_at_three_and_four():
            os.dup2(to_browser, 63)  # neither may be overwritten before it is copied
            os.dup2(from_browser, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        arguments = [self.program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--no-first-run", "--remote-debugging-pipe", "--hide-scrollbars", "--force-device-scale-factor=1",
                     "--window-size=1280,900", f"--user-data-dir={self.directory}", "about:blank"]
        self.process = subprocess.Popen(arguments, preexec_fn=pipes_at_three_and_four, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        os.close(self.output)
        os.close(self.input)
        shutil.rmtree(self.directory, ignore_errors=True)

    def read(self):
        while b"\0" not in self.buffer:
            more = os.read(self.input, 1 << 20)
            if not more:
                raise RuntimeError("chromium ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        method, parameters = event["method"], event["params"]
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(parameters["args"])[:2000])
        elif method == "Log.entryAdded":
            self.errors.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        self.events.append(method)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.note(answer)

    def open(self, path):
        """Load a file; returns the seconds until it was drawn."""
        self.events.clear()
        begin = time.monotonic()
        self.send("Page.navigate", url=f"file://{os.path.realpath(path)}")
        while "Page.loadEventFired" not in self.events:
            event = self.read()
            if "method" in event:
                self.note(event)
        self.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        return time.monotonic() - begin

    def run(self, expression):
        """The value of a JavaScript expression; a promise is waited for."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def press(self, key):
        event = {"key": key, "windowsVirtualKeyCode": KEY_CODES.get(key, ord(key[0].upper()))}
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **event, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)
        self.run("new Promise((done) => setTimeout(done, 20))")

    def type(self, text):
        for character in text:
            self.press(character)

    def click(self, selector, x=5, y=5):
        place = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
                         " const b = e.getBoundingClientRect(); return [b.left, b.top]; })()")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=place[0] + x, y=place[1] + y, button="left",
                      clickCount=0 if kind == "mouseMoved" else 1)

    def use_colours(self, scheme):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, width=None, height=None):
        clip = {"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}} if width else {}
        image = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=bool(width), **clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))
