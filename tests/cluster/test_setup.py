"""First start of `./farm` on machines where something is missing."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.patience import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[2]
NAMESPACE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]


@pytest.fixture(scope="module")
def environment_made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with pip, for tests of later steps to copy: making one takes 5 s of processor time."""
    made = tmp_path_factory.mktemp("environment") / "made"
    subprocess.run([sys.executable, "-m", "venv", made], check=True)
    return made


@pytest.mark.thorough
def test_a_first_start_without_an_index_says_so_and_goes_on_from_what_was_left_half_made(tmp_path: Path) -> None:
    project = _clone(tmp_path / "the farm's folder")
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "python").symlink_to("/none/python3")
    environment = os.environ | {"PIP_NO_INDEX": "1"}
    done = subprocess.run(
        [project / "farm", "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "farm: the dependencies could not be installed" in done.stderr.splitlines()[-1]
    assert (project / ".venv" / "bin" / "pip").exists()


@pytest.mark.thorough
def test_a_first_start_installs_into_the_environment_alone(tmp_path: Path) -> None:
    project = _clone(tmp_path / "farm")
    (project / "requirements.lock").write_text(f"aiodns==4.0.4 --hash=sha256:{'0' * 64}\n")
    information = tmp_path / "elsewhere" / "aiodns-4.0.4.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: aiodns\nVersion: 4.0.4\n")
    environment = os.environ | {"PIP_NO_INDEX": "1", "PIP_USER": "1", "PYTHONPATH": str(information.parent)}
    done = subprocess.run([project / "farm", "demo"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "No matching distribution found for aiodns==4.0.4" in done.stderr


@pytest.mark.thorough
def test_a_package_that_a_killed_first_start_left_unfinished_is_installed_again(
    environment_made: Path, tmp_path: Path
) -> None:
    project = _clone(tmp_path / "farm")
    venv = project / ".venv"
    wheel = tmp_path / "unfinished-1.0-py3-none-any.whl"
    files = {
        "METADATA": "Metadata-Version: 2.1\nName: unfinished\nVersion: 1.0\nRequires-Dist: not-in-the-lock\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in (files | {"entry_points.txt": "[console_scripts]\nits-program = unfinished:run\n"}).items():
            archive.writestr(f"unfinished-1.0.dist-info/{name}", text)
        archive.writestr("unfinished.py", "run = print\n")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (project / "requirements.lock").write_text(f"unfinished==1.0 --hash=sha256:{digest}\n")
    shutil.copytree(environment_made, venv, symlinks=True)
    information = next((venv / "lib").glob("python3*")) / "site-packages" / "unfinished-1.0.dist-info"
    information.mkdir()
    for name, text in files.items():
        (information / name).write_text(text)
    (venv / "setup.tmp" / "pip-unpack-1").mkdir(parents=True)
    environment = os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    done = subprocess.run([project / "farm", "demo"], env=environment, capture_output=True, text=True, check=False)
    assert "farm: compiling the native kernels" in done.stderr.splitlines()
    assert (venv / "bin" / "its-program").exists()
    assert list(information.parent.glob("__pycache__/unfinished.*.pyc"))
    assert not (venv / "setup.tmp").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("is_another_there", [False, True])
def test_the_environment_is_made_again_after_the_system_was_upgraded_to_another_python(
    is_another_there: bool, tmp_path: Path
) -> None:
    project = _clone(tmp_path / "farm")
    venv = project / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    next((venv / "lib").iterdir()).rename(venv / "lib" / "python3.9")
    if not is_another_there:
        (venv / "bin" / "python").unlink()
        (venv / "bin" / "python").symlink_to("/none/python3.9")
    _say_that_all_is_installed(project)
    environment = os.environ | {"PIP_NO_INDEX": "1"}
    done = subprocess.run([project / "farm", "demo"], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[0] == f"farm: making the environment in {venv}"
    assert "farm: the dependencies could not be installed" in done.stderr.splitlines()[-1]


@pytest.mark.thorough
def test_an_interrupted_first_start_says_how_to_go_on_and_the_next_one_does(tmp_path: Path) -> None:
    project = _clone(tmp_path / "farm")
    environment = os.environ | {"PIP_NO_INDEX": "1"}
    command = ["env", "--default-signal=INT", str(project / "farm"), "demo"]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as start:  # fmt: skip
        assert start.stderr is not None
        next(line for line in start.stderr if "making the environment" in line)
        while not (project / ".venv" / "bin").exists():
            time.sleep(0.01)
        os.killpg(start.pid, signal.SIGINT)
        assert start.stderr.read() == "farm: interrupted. Start again to go on.\n"
    assert start.returncode == 130
    done = subprocess.run([project / "farm", "demo"], env=environment, capture_output=True, text=True, check=False)
    assert "farm: the dependencies could not be installed" in done.stderr.splitlines()[-1]
    assert (project / ".venv" / "bin" / "pip").exists()


@pytest.mark.thorough
def test_two_first_starts_at_once_take_turns(tmp_path: Path) -> None:
    project = _clone(tmp_path / "farm")
    environment = os.environ | {"PIP_NO_INDEX": "1"}
    starts = [
        subprocess.Popen([project / "farm", words], env=environment, stderr=subprocess.PIPE, text=True)
        for words in ("up", "doctor")
    ]
    said = [start.communicate()[1] for start in starts]
    assert [start.returncode for start in starts] == [1, 1]
    assert sum(words.count("farm: another command sets this folder up; waiting for it") for words in said) == 1
    assert sum(words.count("farm: making the environment") for words in said) == 1


@pytest.mark.thorough
def test_a_first_start_without_a_connection_says_what_failed(environment_made: Path, tmp_path: Path) -> None:
    project = _clone(tmp_path / "farm")
    shutil.copytree(environment_made, project / ".venv", symlinks=True)
    environment = os.environ | {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "1",
        "PIP_CONFIG_FILE": "/dev/null",
    }
    done = subprocess.run([project / "farm", "demo"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if line.startswith("farm: the connection failed: ")]
    assert len(said) == 1
    assert "Connection refused" in said[0]


def test_the_packages_are_counted_while_pip_works() -> None:
    script = f'. "{ROOT}/cluster/setup/setup.sh"; show_progress 191'
    with subprocess.Popen(
        ["sh", "-c", script], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    ) as counting:  # fmt: skip
        assert counting.stdin is not None
        assert counting.stderr is not None
        counting.stdin.write("Collecting aiodns==4.0.4\n  Downloading aiodns-4.0.4.whl (12 kB)\n")
        counting.stdin.write("Installing collected packages: aiodns\n")
        has_said, _, _ = select.select([counting.stderr], [], [], HANG_SECONDS)
        counting.stdin.close()
        assert counting.stderr.read() == "farm: unpacking 1 of 191 packages; all of them take a minute or two\n"
    assert has_said


def test_a_long_step_says_that_it_goes_on_and_how_it_ended(tmp_path: Path) -> None:
    log = tmp_path / "log"
    step = f"until grep -q still '{log}'; do sleep 0.1; done; echo done; exit 7"
    script = f'. "{ROOT}/cluster/setup/setup.sh"; silent_seconds=1; long_step waiting sh -c "{step}" || exit $?'
    with log.open("w") as stderr:
        done = subprocess.run(["sh", "-euc", script], stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "done\n")
    said = log.read_text().splitlines()
    # On a busy machine, the step may end more than a second later.
    assert said == [f"farm: still waiting, after {second} s" for second in range(1, len(said) + 1)]


def test_a_disk_that_is_too_small_is_named_before_anything_is_installed(tmp_path: Path) -> None:
    project = _clone(tmp_path / "farm")
    temporary = tmp_path / "small"
    temporary.mkdir()
    mounted = 'mount -t tmpfs -o size=100m none "$TMPDIR" && exec "$@"'
    done = subprocess.run(
        [*NAMESPACE, "sh", "-c", mounted, "sh", project / "farm", "up"],
        env=os.environ | {"TMPDIR": str(temporary)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "farm:" not in done.stderr:
        pytest.skip(f"file systems cannot be mounted here: {done.stderr}")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"farm: the disk of {temporary} has 100 MB free, and the installation takes 600 MB there.")
    assert not (project / ".venv").exists()


@pytest.mark.parametrize("character", ['"', "$", "`"])
def test_a_folder_in_which_postgres_would_not_start_is_named_before_anything_is_installed(
    character: str, tmp_path: Path
) -> None:
    project = _clone(tmp_path / f"the{character}farm")
    environment = os.environ | {"PIP_NO_INDEX": "1"}
    done = subprocess.run([project / "farm", "demo"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"farm: Postgres does not start in {project}, because of a ")
    assert not (project / ".venv").exists()


@pytest.mark.thorough
def test_a_disk_that_fills_before_the_kernels_are_compiled_is_named_and_they_are_tried_again(
    environment_made: Path, tmp_path: Path
) -> None:
    project = _clone(tmp_path / "farm")
    venv = project / ".venv"
    venv.mkdir()
    filled = (
        'mount -t tmpfs -o size=45m none "$1" && cp -R "$2"/. "$1" && cp "$3" "$1/requirements.installed" || exit 9; '
        'cat /dev/zero >"$1/filler" 2>/dev/null; "$4" up; ended=$?; ls "$1"; exit $ended'
    )
    script: list[str | Path] = [filled, "sh", venv, environment_made, project / "requirements.lock", project / "farm"]
    done = subprocess.run(
        [*NAMESPACE, "sh", "-c", *script], env=os.environ | {"PIP_NO_INDEX": "1"}, capture_output=True, text=True, check=False
    )  # fmt: skip
    if done.returncode == 9 or done.stderr.startswith("unshare:"):
        pytest.skip(f"file systems cannot be mounted here: {done.stderr}")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == f"farm: the disk of {venv} is full. Free some space and start again to go on."
    assert "kernels.installed" not in done.stdout.split()


def test_compiling_kernels_changes_no_file_that_another_environment_shares_by_a_hard_link(tmp_path: Path) -> None:
    project, mine, other = _clone(tmp_path / "farm"), tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    for name in ("kernels.installed", "kernels.log"):
        (other / name).write_text("theirs\n")
        (mine / name).hardlink_to(other / name)
    script = '. cluster/setup/setup.sh; compile_kernels() { echo built >"$1/kernels.log"; }; kernels=new; install_kernels . "$1"'
    subprocess.run(["sh", "-euc", script, "sh", mine], cwd=project, check=True)
    assert (mine / "kernels.installed").read_text() == "new\n"
    assert [(other / name).read_text() for name in ("kernels.installed", "kernels.log")] == ["theirs\n"] * 2


@pytest.mark.thorough
def test_the_kernels_are_compiled_without_a_home(tmp_path: Path) -> None:
    compiler = tmp_path / "cc"  # fails as Zig does without a cache folder; the last word names the library
    writes = 'for library; do :; done; : >"$library"'
    _write_program(compiler, f'test -w "$ZIG_GLOBAL_CACHE_DIR" -a -w "$ZIG_LOCAL_CACHE_DIR" || exit 1\n{writes}')
    environment = {name: value for name, value in os.environ.items() if name != "HOME"} | {"CC": str(compiler)}
    build = "import compiling, pathlib, sys; compiling.build(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", build, str(tmp_path / "built")]
    subprocess.run(command, cwd=ROOT / "native", env=environment, check=True)
    assert sorted(path.suffix for path in (tmp_path / "built").iterdir()) in ([".so"], [".so", ".so"])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other machines have one library")
def test_the_libraries_of_the_kernels_are_compiled_at_the_same_time(tmp_path: Path) -> None:
    waits = "for second in $(seq 600); do set -- begun.*; [ $# = 2 ] && exit 0; sleep 0.1; done; exit 1"
    _write_program(tmp_path / "cc", f"cd {tmp_path} && : >begun.$$ && {waits}")
    build = "import compiling, pathlib, sys; compiling.build(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", build, str(tmp_path / "built")]
    subprocess.run(command, cwd=ROOT / "native", env=os.environ | {"CC": str(tmp_path / "cc")}, check=True)


def test_archives_are_unpacked_without_an_argument_that_the_python_of_debian_12_lacks() -> None:
    sources = [
        path
        for room in ("cluster", "farm_core", "gpu_renderer", "api", "scheduler")
        for path in (ROOT / room).rglob("*.py")
    ]
    assert [path for path in sources if re.search(r"\.extract(all)?\([^)]*filter=", path.read_text())] == []


@pytest.mark.parametrize(
    ("offered", "package"),
    [
        ({"python3": "3.13.5-1"}, "python3"),
        ({"python3": "3.10.6-1~22.04", "python3.11": "3.11.0~rc1-1~22.04"}, "python3.11"),
    ],
)
def test_an_ordinary_user_without_a_python_that_fits_is_told_which_package_has_one(
    offered: dict[str, str], package: str, tmp_path: Path
) -> None:
    done = _started_without_python(tmp_path, user=1000, offered=offered)
    assert done.stderr.splitlines() == [
        "farm: Python 3.11, 3.12, 3.13 or 3.14 is needed; python3 is 3.9.",
        "farm: Install it with the system libraries that the farm needs, and start again:",
        f"farm:     sudo apt-get update && sudo apt-get install -y {package} {package}-venv libegl1 libgl1 libegl-mesa0 "
        "libgl1-mesa-dri libmagic1 fontconfig libfontconfig1 libexpat1",
    ]
    assert not (tmp_path / "installed").exists()


def test_the_container_of_developers_installs_the_same_system_libraries() -> None:
    # Its user is not root, so `./farm` there only says what is missing.
    script = f'. "{ROOT}/cluster/setup/setup.sh"; echo "$system_packages"'
    packages = subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout.strip()
    command = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())["postCreateCommand"]
    assert f"sudo apt-get install -y {packages} && ./farm" in command


@pytest.mark.thorough
def test_root_gets_the_systems_python(tmp_path: Path) -> None:
    done = _started_without_python(tmp_path, user=0, offered={"python3": "3.9.2-3", "python3.12": "3.12.3-1"})
    assert "farm: installing system packages: python3.12 python3.12-venv" in done.stderr.splitlines()
    assert (tmp_path / "installed").read_text().splitlines()[0].endswith(" python3.12 python3.12-venv")
    assert "farm: making the environment" in done.stderr


@pytest.mark.parametrize("user", [0, 1000])
def test_a_system_whose_pythons_are_all_too_old_is_named_before_anything_is_installed(
    user: int, tmp_path: Path
) -> None:
    done = _started_without_python(tmp_path, user=user, offered={"python3": "3.9.2-3"})
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "farm: Python 3.11, 3.12, 3.13 or 3.14 is needed; python3 is 3.9."
    assert "Install python3.13 beside python3" in done.stderr.splitlines()[1]
    assert not (tmp_path / "installed").exists()


def _started_without_python(folder: Path, user: int, offered: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Start a farm where python3 is 3.9 and apt offers these versions. `installed` records the arguments of `apt-get
    install`."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("python3", "python3.14", "python3.13", "python3.12", "python3.11"):
        _write_program(tools / name, "echo 3.9" if name == "python3" else "exit 1")
    policies = "".join(f"{name}) echo '  Candidate: {version}' ;;" for name, version in offered.items())
    _write_program(tools / "apt-cache", f"case $2 in {policies} esac")
    installs = f'test "$1" != install || {{ echo "$@" >>"{folder}/installed"; ln -sf "{sys.executable}" "{tools}/python3.12"; }}'
    _write_program(tools / "apt-get", installs)
    _write_program(tools / "id", f"echo {user}")
    project = _clone(folder / "farm")
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "PIP_NO_INDEX": "1"}
    return subprocess.run([project / "farm", "up"], env=environment, capture_output=True, text=True, check=False)


def _write_program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.thorough
def test_names_that_are_not_ascii_work_in_a_locale_without_utf_8(tmp_path: Path) -> None:
    if not (ROOT / ".venv" / "kernels.installed").exists():
        pytest.skip("this checkout is not set up")
    environment = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    command = [str(ROOT / "farm"), "inspect", f"{tmp_path}/Größe.motion"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert f"{tmp_path}/Größe.motion: The file cannot be read" in done.stderr.decode()


@pytest.mark.thorough
def test_a_machine_without_a_loopback_address_is_named(tmp_path: Path) -> None:
    alone = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    command = [*alone, sys.executable, "-m", "farm_core", "demo", "--data", str(tmp_path), "-o", f"{tmp_path}/demo.mp4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "unshare:" in done.stderr:
        pytest.skip(f"network namespaces cannot be made here: {done.stderr}")
    assert done.returncode == 1
    assert done.stderr.startswith("farm: the parts of the farm talk over 127.0.0.1, which cannot be used: ")
    assert done.stderr.endswith("sudo ip link set lo up\n")


def _say_that_all_is_installed(project: Path) -> None:
    shutil.copy(project / "requirements.lock", project / ".venv" / "requirements.installed")
    sum_of_files = (
        "cat native/*.py native/*.toml native/src/* native/render_kernels/*.* | cksum >.venv/kernels.installed"
    )
    subprocess.run(["sh", "-c", sum_of_files], cwd=project, check=True)
    (project / ".fonts").mkdir()
    shutil.copy(project / "gpu_renderer/content/text/packages.json", project / ".fonts" / "packages.installed")


def _clone(project: Path) -> Path:
    """Copy the files that a first start reads."""
    for name in ("farm", "requirements.lock", "cluster/setup/setup.sh", "gpu_renderer/content/text/packages.json"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    shutil.copytree(ROOT / "native", project / "native")
    return project
