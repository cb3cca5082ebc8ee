"""A Berth server as a process, and what one asks it."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def gpu(what: str) -> str:
    """What nvidia-smi says of each GPU, on a line. Without the tool there is less to tell, and the measurements go on."""
    try:
        query = ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader"]
        return subprocess.run(query, capture_output=True, text=True, check=True, timeout=20).stdout.strip() or "?"
    except (OSError, subprocess.SubprocessError) as error:
        return f"? ({type(error).__name__})"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


PORT = free_port()


class Server:
    """Started with ./serve; `with` stops it."""

    def __init__(self, model: Path, device: str, log: Path, *flags: str, variables: dict[str, str] | None = None):
        self.model, self.device, self.log, self.flags, self.variables = model, device, log, flags, variables or {}
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> "Server":
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def start(self) -> float:
        """Returns the seconds from exec to the first 200 of /ping."""
        command = [HERE / "berth/serve", "--model-dir", self.model, "--instance-type", self.device, "--port", str(PORT), *self.flags]
        began = time.perf_counter()
        with open(self.log, "ab") as log:
            log.write(f"\n--- {' '.join(map(str, self.flags))} {self.variables}\n".encode())
            log.flush()
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | self.variables, start_new_session=True)
        while self.ping() != 200:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with {self.process.returncode}: {self.last_lines()}")
            time.sleep(0.02)
        return round(time.perf_counter() - began, 2)

    def last_lines(self) -> str:
        return " | ".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-4:])

    def terminate(self) -> None:
        os.kill(self.process.pid, signal.SIGTERM)

    def wait(self, seconds: float) -> int:
        return self.process.wait(seconds)

    def ping(self) -> int:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=5)
            connection.request("GET", "/ping")
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def invoke(self, body: str, content_type: str = "application/json") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=120)
        try:
            connection.request("POST", "/invocations", body.encode(), {"Content-Type": content_type})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def answer(self, case: dict) -> list[dict]:
        """What the server answers to a line of reference.jsonl, best first."""
        inputs = {"question": case["question"], "context": expanded(case["context"])}
        status, text = self.invoke(json.dumps({"inputs": inputs, "parameters": case.get("parameters", {})}))
        if status != 200:
            raise RuntimeError(f"{case['name']}: {status} {text[:300]}")
        answers = json.loads(text)
        return answers if isinstance(answers, list) else [answers]

    def memory_mib(self) -> int | str:
        """Of the GPU all that is used, by the driver's own tool; of a CPU what the process holds."""
        if self.device == "gpu":
            used = gpu("memory.used").splitlines()[0].removesuffix(" MiB")
            return int(used) if used.isdigit() else used
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def expanded(context: str | list) -> str:
    """A long context is a list of texts and of {"repeat": text, "times": n}."""
    if isinstance(context, str):
        return context
    return "".join(item if isinstance(item, str) else item["repeat"] * item["times"] for item in context)
