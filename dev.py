"""
One line for each job of this checkout; needs Python 3.11 or newer and nothing else.

    python3 dev.py demo             scan the example sessions
    python3 dev.py test [ARG...]    run the tests (arguments go to pytest)
    python3 dev.py run COMMAND...   run any command with everything that developing needs

The first use makes `.venv` here and installs the package into it; later uses find that done until pyproject.toml changes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
EXTRAS = {"demo": "prices", "test": "prices,pydantic-ai,watch,zstd", "run": "prices,pydantic-ai,watch,zstd"}
GROUPS = {"demo": (), "test": ("test",), "run": ("dev",)}
COMMANDS = {"demo": ("unstuck", "scan", "examples/sessions"), "test": ("pytest", "-m", "not slow"), "run": ()}

# A system without ensurepip and pip gets this one from the index; the digest is that of the file on PyPI.
PIP_WHEEL = "pip-25.3-py3-none-any.whl"
PIP_SHA256 = "9655943313a94722b7774661c21049070f6bbb0a1516bf02f7c8d5d9201514cd"


def main(arguments: list[str]) -> int:
    """Prepare the environment, run the job named first in *arguments*, return its exit status."""
    job, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if job not in EXTRAS or (job == "run" and not rest):
        print(__doc__, file=sys.stderr)
        return 2
    if sys.version_info < (3, 11):
        print(f"unstuck needs Python 3.11 or newer; this is {sys.version.split()[0]}: {sys.executable}", file=sys.stderr)
        return 2
    os.chdir(ROOT)
    try:
        prepare(job)
    except subprocess.CalledProcessError as error:
        print(f"setting up {VENV} failed: {subprocess.list2cmdline(map(str, error.cmd))}", file=sys.stderr)
        return 1
    path = f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    environment = os.environ | {"PATH": path, "VIRTUAL_ENV": str(VENV), "PYTHONUTF8": "1"}
    command = [*COMMANDS[job], *rest]
    program = shutil.which(command[0], path=path)
    if program is None:
        print(f"no such command: {command[0]}", file=sys.stderr)
        return 127
    return subprocess.call([program, *command[1:]], env=environment)


def prepare(job: str) -> None:
    """Make the environment and install what *job* needs, unless the stamp says that both are done."""
    stamp = VENV / f"unstuck-{job}.stamp"
    settings = (ROOT / "pyproject.toml").read_bytes() + Path(__file__).read_bytes()
    wanted = f"{ROOT}\n{hashlib.sha256(settings).hexdigest()}\n"
    found = stamp.read_text("utf-8") if stamp.is_file() else f"{ROOT}\n"
    usable = found.startswith(f"{ROOT}\n") and works()  # the scripts of a moved environment still name the old place
    if found == wanted and usable:
        return
    print(f"setting up {VENV} for '{job}' ...", file=sys.stderr)
    if not usable:
        subprocess.check_call([sys.executable, "-m", "venv", "--clear", "--without-pip", VENV])
    environment = os.environ | {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if subprocess.call([PYTHON, "-c", "import pip"], stderr=subprocess.DEVNULL) != 0:
        install_pip(environment)
    requirements = ["--editable", f".[{EXTRAS[job]}]", *group_requirements(GROUPS[job])]
    subprocess.check_call([PYTHON, "-m", "pip", "install", "-qq", *requirements], env=environment)
    stamp.write_text(wanted, "utf-8")


def works() -> bool:
    """Whether `.venv` holds an interpreter that starts and is new enough (its base may have been removed since)."""
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    return PYTHON.exists() and subprocess.call([PYTHON, "-c", check], stderr=subprocess.DEVNULL) == 0


def install_pip(environment: dict[str, str]) -> None:
    """Bring pip into the environment: by ensurepip, by the pip of this Python, or by a wheel from the index."""
    for command in (
        [str(PYTHON), "-m", "ensurepip", "--default-pip"],
        [sys.executable, "-m", "pip", "--python", str(PYTHON), "install", "pip"],
    ):
        if subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0:
            return
    with TemporaryDirectory() as folder:
        wheel = Path(folder) / PIP_WHEEL
        wheel.write_bytes(download_pip(os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"))
        subprocess.check_call([PYTHON, wheel / "pip", "install", "--quiet", wheel], env=environment)


def download_pip(page: str) -> bytes:
    """The pinned wheel, found by its name on the index *page* of pip."""
    with urllib.request.urlopen(page, timeout=60) as answer:
        found = re.search(rf'href="([^"]*{re.escape(PIP_WHEEL)})[#"]', answer.read().decode())
    if found is None:
        raise SystemExit(f"{page} does not offer {PIP_WHEEL}; install pip or python3-venv and try again")
    with urllib.request.urlopen(urllib.parse.urljoin(page, found[1]), timeout=60) as answer:
        content: bytes = answer.read()
    if hashlib.sha256(content).hexdigest() != PIP_SHA256:
        raise SystemExit(f"{PIP_WHEEL} from {page} has an unexpected digest; not used")
    return content


def group_requirements(names: tuple[str, ...]) -> list[str]:
    """The requirements of these dependency groups; pip reads groups itself only from 25.1 on."""
    import tomllib

    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    found: list[str] = []
    for name in names:
        for entry in groups[name]:
            found += [entry] if isinstance(entry, str) else group_requirements((entry["include-group"],))
    return found


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
