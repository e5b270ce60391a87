"""The sandbox, tried for real: what must not get out of it, and what must work in it."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pinfold.ports.tool import Sandbox, ToolContext
from pinfold.tools.process import RunningCommand
from pinfold.tools.sandbox import landlock
from pinfold.tools.sandbox.confine import confine, find
from pinfold.tools.sandbox.places import look
from pinfold.tools.shell import ShellTool

HERE = {
    "bubblewrap": "" if find().kind == "bubblewrap" else find().text,
    "landlock": "" if landlock.abi() >= landlock.MIN_ABI else "Landlock is missing or too old",
}
"""The sandboxes by the reason for which they are not tried."""

GIT = ["git", "-c", "user.name=a", "-c", "user.email=b"]
SECRET = "hunter2-correct-horse"
GUARDED = (".git/config", ".git/hooks/pre-commit", ".vscode/tasks.json")
WORKING = (*GUARDED, "sub/.envrc", "a.py")


@dataclass
class Machine:
    """Everything around the sandbox that must stay as it is."""

    root: Path
    kind: str
    heard: list[bytes] = field(default_factory=list)

    @property
    def work(self) -> Path:
        return self.root / "work"

    def sandbox(self, **changed: Any) -> Sandbox:
        return self.over(self.work, **changed)

    def over(self, *roots: Path, **changed: Any) -> Sandbox:
        return Sandbox(self.kind, roots, self.root / "scratch", **changed)  # type: ignore[arg-type]

    async def run(self, script: str, sandbox: Sandbox) -> tuple[str, int]:
        """What it prints and its exit code; it did run."""
        context = ToolContext(sandbox.roots[0], self.root, "c1", lambda _: None, sandbox)
        outcome = await ShellTool().run(json.dumps({"command": script}), context)
        assert not outcome.output.startswith("bwrap: ")
        assert "spill" not in outcome.detail
        printed = outcome.output[: outcome.detail["host"][0][0]]
        return printed, outcome.detail["exit_code"]

    async def run_each(
        self, scripts: dict[str, str], sandbox: Sandbox, *, failing: bool = True
    ) -> dict[str, str]:
        """What each of them prints, by name. All run in one sandbox, one after the other."""
        script = "".join(
            f"echo; echo {quote(f'== {name}')}; ({text}\n)\n" for name, text in scripts.items()
        )
        printed, code = await self.run(script if failing else f"set -e\n{script}", sandbox)
        assert failing or code == 0
        parts = [part.partition("\n") for part in printed.split("\n== ")]
        found = {name: text for name, _, text in parts[1:]}
        assert found.keys() == scripts.keys()
        return found

    def state(self) -> dict[str, str]:
        """Every file outside the workspace, and the guarded ones in it."""
        found: dict[str, str] = {}
        for folder in (self.root / "outside", self.root / "home"):
            for path in folder.rglob("*"):
                at = str(path)
                link = str(path.readlink()) if path.is_symlink() else ""
                content = path.read_bytes() if path.is_file() else b""
                found[at] = f"{link} {path.lstat().st_mode} {path.lstat().st_mtime} {content!r}"
        for name in GUARDED:
            found[name] = (self.work / name).read_text()
        return found


@pytest.fixture
def place(pytestconfig: pytest.Config) -> Iterator[Path]:
    """A folder that the sandbox shows as it is: not below `/tmp`."""
    assert pytestconfig.cache
    with TemporaryDirectory(dir=pytestconfig.cache.mkdir("sandbox")) as folder:
        yield Path(folder).resolve()


@pytest.fixture(params=HERE)
def machine(
    place: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Machine]:
    if why := HERE[request.param]:
        pytest.skip(why)
    machine = Machine(place, request.param)
    for name in (
        *(f"work/{text}" for text in WORKING),
        *("outside/file", "outside/other", "home/.bashrc", "home/.profile"),
        *("home/.ssh/id_rsa", "home/.aws/credentials", "home/.netrc", "home/.gnupg/key"),
        *("home/.config/gh/hosts.yml", "home/.local/share/keyrings/login.keyring"),
        *("home/.codex/sessions/x.jsonl", "home/.claude/projects/x.jsonl", "pinfold/trusted.json"),
    ):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        secret = name.count("/") > 1 or name in ("home/.netrc", "pinfold/trusted.json")
        path.write_text(SECRET if secret and not name.startswith("work") else "x\n")
    for name in ("objects", "refs"):
        (machine.work / ".git" / name).mkdir()
    (machine.work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (machine.work / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n")
    (machine.work / "link").symlink_to(place / "outside")
    victim = subprocess.Popen(["sleep", "600"])
    for name, value in {
        "HOME": place / "home",
        "OUT": place / "outside",
        "ABSTRACT": place,
        "VICTIM": victim.pid,
        "PINFOLD": place / "pinfold",
        "PY": str(Path(sys.executable).resolve()),  # a checkout below /tmp is not seen in it
    }.items():
        monkeypatch.setenv(name, str(value))
    yield machine
    assert victim.poll() is None
    victim.kill()
    victim.wait()


@pytest.fixture
def servers(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A port of this machine, a socket outside, one in the workspace and an abstract one."""
    listening = [socket.create_server(("127.0.0.1", 0))]
    outside = str(machine.root / "outside" / "sock")
    for address in (outside, str(machine.work / "sock"), f"\0{machine.root}"):
        listening.append(socket.socket(socket.AF_UNIX))
        listening[-1].bind(address)
        listening[-1].listen()
    threads = [
        threading.Thread(target=_accept, args=(connection, machine.heard))
        for connection in listening
    ]
    for thread in threads:
        thread.start()
    monkeypatch.setenv("PORT", str(listening[0].getsockname()[1]))
    yield
    for connection, thread in zip(listening, threads, strict=True):
        connection.shutdown(socket.SHUT_RDWR)  # `accept` returns
        thread.join()
        connection.close()


def _accept(listening: socket.socket, heard: list[bytes]) -> None:
    while True:
        try:
            there, _ = listening.accept()
        except OSError:
            return
        heard.append(b"connected")
        there.close()


def connect(family: str, address: str) -> str:
    return f"$PY -c 'import socket,os; s=socket.socket(socket.{family}); s.connect({address}); print(\"ESCAPED\")'"  # noqa: E501


def call(number: str, *arguments: str) -> str:
    """A system call by its name in libc, which says where it got through."""
    given = ", ".join(arguments)
    return f"""$PY -c 'import ctypes,os; c=ctypes.CDLL(None,use_errno=True); r=c.{number}({given}); print("ESCAPED" if r == 0 else os.strerror(ctypes.get_errno()))'"""  # noqa: E501


UNIX, INET = "AF_UNIX", "AF_INET"
ESCAPES = {
    "writing outside": {
        "write": "echo x > $OUT/file",
        "append": "echo x >> $OUT/file",
        "create": "touch $OUT/new",
        "create in etc": "touch /etc/pinfold-was-here && echo ESCAPED",
        "create in usr": "touch /usr/bin/pinfold-was-here && echo ESCAPED",
        "create in root": "touch /pinfold-was-here && echo ESCAPED",
        "create in dev": "touch /dev/pinfold-was-here && echo ESCAPED",
        "create in run": "touch /run/pinfold-was-here && echo ESCAPED",
        "delete": "rm -rf $OUT/file $OUT/other",
        "move in": "mv $OUT/file .",
        "move out": "mv a.py $OUT/",
        "change mode": "chmod 777 $OUT/file",
        "change owner": "chown 1:1 $OUT/file && echo ESCAPED",
        "change times": "touch -d 2001-01-01 $OUT/file && echo ESCAPED",
        "truncate": "truncate -s0 $OUT/file",
        "make a folder": "mkdir $OUT/new",
        "make a link there": "ln -s /etc $OUT/new",
        "hard link here, write there": "ln $OUT/file here && echo x > here",
        "set an attribute": "setfattr -n user.x -v y $OUT/file && echo ESCAPED",
        "write to home": "echo evil >> ~/.bashrc",
        "write to a profile": "echo evil >> ~/.profile; mkdir -p ~/.config/autostart",
    },
    "links and mounts": {
        "through a link": "echo x > link/file",
        "through a new link": "ln -s $OUT new && echo x > new/file",
        "through a link of folders": "mkdir d && ln -s $OUT d/x && cp a.py d/x/file",
        "through dots": "echo x > ../outside/file",
        "remount": "mount -o remount,rw / && echo ESCAPED",
        "remount the folder": "mount -o remount,bind,rw $OUT && echo ESCAPED",
        "mount over": "mount --bind . $OUT && echo ESCAPED",
        "mount a disk": "mount -t tmpfs x $OUT && echo ESCAPED",
        "unmount": "umount -l .git/config && echo ESCAPED",
        "unmount tmp": "umount -l /tmp && echo ESCAPED",
        "mount by system call": call("mount", "0", 'b"/"', "0", "32|4096", "0"),
        "another user namespace": "unshare -Ur mount -o remount,rw / && echo ESCAPED",
        "another mount namespace": "unshare -Urm sh -c 'mount --bind . $OUT && echo ESCAPED'",
        "change root": "chroot . /bin/true && echo ESCAPED",
        "pivot the root": call("pivot_root", 'b"."', 'b"."'),
    },
    "processes": {
        "another's root": "echo x > /proc/$VICTIM/root$OUT/file",
        "the first process's root": "echo x > /proc/1/root$OUT/file",
        "the parent's root": "echo x > /proc/$PPID/root$OUT/file",
        "the parent's folder": "echo x > /proc/$PPID/cwd/../outside/file",
        "open descriptors": "for f in /proc/{1,self}/fd/*; do [ -d $f ] && echo ESCAPED; done",
        "kill another process": "kill -9 $VICTIM && echo ESCAPED",
        "stop another process": "kill -STOP $VICTIM && echo ESCAPED",
        "trace another process": call("ptrace", "16", 'int(os.environ["VICTIM"])', "0", "0"),
        "read another's memory": "head -c1 /proc/$VICTIM/mem && echo ESCAPED",
        "join its namespaces": "nsenter -t $VICTIM -m true && echo ESCAPED",
        "join those of the first": "nsenter -t 1 -m touch $OUT/new",
        "kernel settings": ": >> /proc/sys/vm/swappiness && echo ESCAPED",
        "a core pattern": ": >> /proc/sys/kernel/core_pattern && echo ESCAPED",
        "a cgroup's release agent": "mkdir /sys/fs/cgroup/x && echo ESCAPED",
        "memory of the kernel": "head -c1 /proc/kcore /dev/mem && echo ESCAPED",
        "a disk": "head -c1 /dev/vda && echo ESCAPED; head -c1 /dev/sda && echo ESCAPED",
        "a new device": "mknod x b 8 0 && head -c1 x && echo ESCAPED",
    },
    "rights": {
        "setuid": "cp /bin/bash ./b && chmod u+s ./b; chown 0:0 ./b; ./b -pc 'touch /etc/pinfold-was-here && echo ESCAPED'",  # noqa: E501
        "sudo and su": "sudo -n touch $OUT/new || su -c 'touch $OUT/new'",
        "become another user": "setpriv --reuid=1 true && echo ESCAPED",
        "capabilities": "grep -E 'Cap.*:.*[1-9a-f]' /proc/self/status && echo ESCAPED",
        "new privileges": "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo ESCAPED",
        "set the clock": 'date -s "$(date)" && echo ESCAPED',
        "set the host's name": 'hostname "$(hostname)" && echo ESCAPED',
        "load a module": call("init_module", "0", "0", 'b""'),
        "chown by a file's capability": "setcap cap_dac_override+ep $PY && echo ESCAPED",
    },
    "secrets": {
        "ssh keys": "cat ~/.ssh/id_rsa",
        "cloud keys": "cat ~/.aws/credentials",
        "netrc": "cat ~/.netrc",
        "gnupg": "cat ~/.gnupg/key; ls ~/.gnupg | grep key && echo ESCAPED",
        "gh": "cat ~/.config/gh/hosts.yml",
        "keyrings": "cat ~/.local/share/keyrings/*",
        "sessions of other tools": "cat ~/.codex/sessions/* ~/.claude/projects/*",
        "own sessions": "cat $PINFOLD/trusted.json",
        "behind a link": "ln -s ~/.ssh k; cat k/id_rsa; cat /proc/self/root$HOME/.ssh/id_rsa",
        "search for it": f"grep -r {SECRET[:7]} ~ $PINFOLD",
        "shadow": "[ -s /etc/shadow ] && cat /etc/shadow && echo ESCAPED",
        "environment of others": "cat /proc/$VICTIM/environ && echo ESCAPED",
    },
    "what runs later": {
        "write a hook": "echo x > .git/hooks/pre-commit",
        "add a hook": "echo x > .git/hooks/post-commit && echo ESCAPED",
        "git's configuration": "git config core.fsmonitor ./evil && echo ESCAPED",
        "write git's configuration": "echo x >> .git/config",
        "replace git's configuration": "cp a.py c && mv -f c .git/config && echo ESCAPED",
        "an editor's tasks": "echo x > .vscode/tasks.json",
        "more of an editor's tasks": "echo x > .vscode/settings.json && echo ESCAPED",
    },
}
ALONE = {
    "swap a folder for a link": "mkdir t; (while :; do rm -rf t; ln -sfn $OUT t; done) & for i in $(seq 200); do echo x 2>/dev/null > t/file; done",  # noqa: E501
    "go on after the end": """(setsid sh -c 'exec >/dev/null 2>&1 </dev/null; trap "" TERM HUP; while :; do touch .husky $OUT/new; done' &)""",  # noqa: E501
    "go on after the end, twice": "(setsid setsid sh -c 'exec >&- 2>&-; while :; do mkdir .vscode2 .claude; done' &); exit",  # noqa: E501
    "move .git away": "mv .git g && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
    "move hooks away": "mv .git/hooks .git/h && mkdir .git/hooks && echo ESCAPED",
    "delete .git": "rm -rf .git; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
    "another common folder": "echo ../evil > .git/commondir; mkdir -p evil/hooks",
    "move an editor's folder": "mv .vscode v && mkdir .vscode && echo x > .vscode/tasks.json",
    "move the folder above": "mv sub s && mkdir sub && echo evil > sub/.envrc",
    "an own sandbox of it": "$PY -c 'import os; os.unlink(\"sub/.envrc\")'; echo x > sub/.envrc",
}
"""What needs a sandbox for itself: it goes on, or moves what others try."""
CONNECTIONS = {
    "a server on this machine": connect(INET, '("127.0.0.1", int(os.environ["PORT"]))'),
    "a server beyond": connect(INET, '("192.0.2.1", 80)'),
    "datagrams": '$PY -c \'import socket; socket.socket(socket.AF_INET,socket.SOCK_DGRAM).sendto(b"x",("192.0.2.1",53)); print("ESCAPED")\'',  # noqa: E501
    "names": "getent hosts example.org && echo ESCAPED",
    "bash's own sockets": "echo x > /dev/tcp/127.0.0.1/$PORT && echo ESCAPED",
    "raw sockets": "$PY -c 'import socket; socket.socket(socket.AF_PACKET,socket.SOCK_RAW); print(\"ESCAPED\")'",  # noqa: E501
    "a socket outside": connect(UNIX, 'os.environ["OUT"]+"/sock"'),
    "a socket in the workspace": connect(UNIX, '"sock"'),
    "an abstract socket": connect(UNIX, '"\\0"+os.environ["ABSTRACT"]'),
    "bring a device up": "ip link add x type dummy && echo ESCAPED",
}
MADE = {
    "husky": "mkdir .husky && echo x > .husky/pre-commit",
    "envrc": "echo x > .envrc",
    "deep": "mkdir -p a/b/c/.vscode && echo x > a/b/c/.vscode/tasks.json",
    "claude": "mkdir .claude && echo '{}' > .claude/settings.json && chmod 0 .claude",
    "pinfold": "mkdir .pinfold && echo x > .pinfold/config.toml",
    "workflow": "mkdir -p .github/workflows && echo x > .github/workflows/ci.yml",
    "repository": "mkdir r1 && cd r1 && git init -q",
    "a file that leads to one": "mkdir r2 && echo 'gitdir: /x' > r2/.git",
    "bare repository": "mkdir -p r3/objects r3/refs && echo x > r3/HEAD && echo x > r3/config",
    "a link": "ln -s a.py .bashrc",
    "a common folder": "echo ../evil > .git/commondir",
    "submodules": "mkdir -p .git/modules/x && echo x > .git/modules/x/config",
    "a folder swapped": "mv sub s && mkdir sub && echo evil > sub/.envrc",
}
SET_ASIDE = """\
.bashrc.1 .claude.1 .envrc.1 .envrc.2 .git.1 .git.2 .husky.1 .pinfold.1 .vscode.1 HEAD.1
commondir.1 modules.1 workflows.1"""


LATER = frozenset(
    {
        *("add a hook", "git's configuration", "replace git's configuration", "move hooks away"),
        "more of an editor's tasks",
    }
)
"""What Landlock lets happen, and is put back once the command has ended."""
BEYOND = frozenset({"change mode", "change owner", "change times", "set an attribute", "gnupg"})
"""What Landlock does not look at: modes and times of one's own files, names in a hidden folder."""


def unchanged(machine: Machine, before: dict[str, str]) -> bool:
    """Whether nothing outside changed, and no file took the place of a guarded one."""
    # A folder above may be moved; what it holds goes with it, and nothing comes in its place.
    moved = [path.read_text() for path in machine.work.glob("s*/.envrc") if path.is_file()]
    assert moved
    assert "evil" not in "".join(moved)
    assert not list(Path("/etc").glob("pinfold-was-here"))
    return machine.state() == before


@pytest.mark.parametrize("group", ESCAPES)
async def test_nothing_gets_out(group: str, machine: Machine) -> None:
    left_out = BEYOND if machine.kind == "landlock" else ()
    tried = {name: text for name, text in ESCAPES[group].items() if name not in left_out}
    before = machine.state()
    hidden = (machine.root / "pinfold",)
    printed = await machine.run_each(tried, machine.sandbox(hidden=hidden))
    escaped = {name for name, text in printed.items() if "ESCAPED" in text}
    assert escaped == (LATER & tried.keys() if machine.kind == "landlock" else set())
    assert SECRET not in "".join(printed.values())
    assert unchanged(machine, before)


@pytest.mark.parametrize("name", ALONE)
async def test_nor_by_what_moves_or_stays(name: str, machine: Machine) -> None:
    before = machine.state()
    printed, _ = await machine.run(ALONE[name], machine.sandbox())
    assert "ESCAPED" not in printed or (machine.kind, name in LATER) == ("landlock", True)
    assert unchanged(machine, before)


@pytest.mark.usefixtures("servers")
async def test_nothing_is_reached(machine: Machine) -> None:
    printed = await machine.run_each(CONNECTIONS, machine.sandbox())
    assert not [name for name, text in printed.items() if "ESCAPED" in text]
    assert not machine.heard


async def test_guarded_places_that_a_command_makes_are_set_aside(machine: Machine) -> None:
    before = look([machine.work])
    await machine.run_each(MADE, machine.sandbox(), failing=False)
    aside = (machine.root / "scratch" / "set-aside").iterdir()
    assert sorted(path.name for path in aside) == SET_ASIDE.split()
    known = {*before.kept.values(), *before.stays.values()}
    after = look([machine.work])
    new = [path for path, pair in (after.kept | after.stays).items() if pair not in known]
    # Where a place cannot be kept, its copy is put back.
    assert all(machine.kind == "landlock" and path.read_text() == "x\n" for path in new)


async def test_variables_for_a_command_change_nothing_of_its_sandbox(machine: Machine) -> None:
    """Those of a project's server are the project's: a library that it names would be loaded into
    what makes the sandbox, and another home would leave the user's keys in sight."""
    library, sandbox = str(machine.work / "evil.so"), machine.sandbox()
    env = {**os.environ, "LD_PRELOAD": library, "HOME": str(machine.work)}
    script = f"echo =$LD_PRELOAD=; cat {machine.root}/home/.ssh/id_rsa"
    assert "LD_PRELOAD" not in confine(sandbox, ["true"], machine.work, env).env
    async with RunningCommand(
        ["sh", "-c", script], machine.work, env=env, sandbox=sandbox
    ) as command:
        printed = b"".join([piece async for piece in command.output()]).decode()
    assert f"={library}=" in printed
    assert SECRET not in printed


async def test_output_is_heard_while_a_command_runs(machine: Machine) -> None:
    """So that a timeout counts from its start, and a full pipe stops nothing."""

    def hear(_: str) -> None:
        (machine.work / "go").touch()

    context = ToolContext(machine.work, machine.root, "c1", hear, machine.sandbox())
    command = "echo heard; until [ -e go ]; do sleep 0.01; done"
    async with asyncio.timeout(20):
        assert (await ShellTool().run(json.dumps({"command": command}), context)).ok


async def test_what_is_set_aside_on_another_disk_stays_beside(machine: Machine) -> None:
    (machine.root / "scratch").mkdir()
    (machine.root / "scratch" / "set-aside").write_text("no folder")
    await machine.run("mkdir .husky .claude", machine.sandbox())
    names = {path.name for path in machine.work.glob("*.set-aside*")}
    assert names == {".claude.set-aside.1", ".husky.set-aside.1"}


async def test_work_goes_on_in_it(machine: Machine) -> None:
    script = """
    set -e
    echo y > b.py && mkdir d && mv b.py d/ && rm d/b.py && echo z >> a.py
    cat /etc/passwd >/dev/null
    tmp=$(mktemp) && echo t > $tmp && rm $tmp && echo t > $TMPDIR/x
    cat <<< here; : > /dev/null; head -c1 /dev/urandom >/dev/null
    git init -q $TMPDIR/other && git -C $TMPDIR/other status
    git add a.py && git -c user.name=a -c user.email=b commit -qm x && git log --oneline
    sleep 0.01 & wait
    [ $PINFOLD_SANDBOX = landlock ] && exit
    $PY -c 'import multiprocessing as m; m.Lock()'
    $PY -c 'import socket; socket.create_server(("127.0.0.1", 0))'
    """
    said, code = await machine.run(script, machine.sandbox())
    assert code == 0, said
    assert not (machine.root / "scratch" / "set-aside").exists()
    assert (machine.work / "a.py").read_text() == "x\nz\n"
    # The folder for temporary files is one for the session.
    said, *_ = await machine.run("ls $TMPDIR", machine.sandbox())
    assert {"other", "x"} <= set(said.split())


async def test_without_a_writable_place_nothing_is_written(machine: Machine) -> None:
    script = "".join(
        f"touch {path}/new 2>/dev/null && echo ESCAPED {path}\n"
        for path in (".", "/tmp", "/var/tmp", "/dev/shm", "/run", "/dev", "~", "$OUT", ".git")
    )
    said, *_ = await machine.run(f"{script}cat a.py", machine.sandbox(writes=False))
    assert said == "x\n"


@pytest.mark.usefixtures("servers")
async def test_the_network_is_there_where_it_is_allowed(machine: Machine) -> None:
    opened = machine.sandbox(network=True)
    assert (await machine.run(CONNECTIONS["a server on this machine"], opened))[0] == "ESCAPED\n"
    assert "ESCAPED" not in (await machine.run(CONNECTIONS["an abstract socket"], opened))[0]
    if machine.kind == "bubblewrap":
        assert "ESCAPED" not in (await machine.run(CONNECTIONS["a socket outside"], opened))[0]


async def test_other_folders_may_be_written_too(machine: Machine) -> None:
    other = machine.root / "outside"
    sandbox = machine.over(machine.work, other)
    assert (await machine.run("touch $OUT/new; mkdir $OUT/.husky", sandbox))[1] == 0
    assert {path.name for path in other.iterdir()} == {"file", "other", "new"}


async def test_a_worktree_can_be_committed_in(machine: Machine) -> None:
    main, tree = machine.root / "main", machine.root / "tree"
    for command in (
        ["git", "init", "-q", str(main)],
        [*GIT, "-C", str(main), "commit", "-q", "--allow-empty", "-m", "x"],
        ["git", "-C", str(main), "worktree", "add", "-q", str(tree)],
    ):
        subprocess.run(command, check=True)
    sandbox = machine.over(tree)
    script = f"cd {tree} && touch x && git add x && {' '.join(GIT)} commit -qm y && echo DONE"
    assert "DONE" in (await machine.run(script, sandbox))[0]
    git = main / ".git"
    paths = [git / "config", git / "hooks" / "x", main / "x", git / "worktrees/tree/commondir"]
    await machine.run("".join(f"echo x > {path}\n" for path in paths), sandbox)
    assert not [path for path in paths if path.exists() and path.read_text() == "x\n"]
    await machine.run(f"echo x > {git}/commondir", sandbox)
    assert not (main / ".git" / "commondir").exists()
    # A file that only says so opens nothing.
    (machine.work / "sub" / ".git").write_text(f"gitdir: {main / '.git' / 'worktrees' / 'tree'}\n")
    forged = machine.over(machine.work / "sub")
    await machine.run(f"touch {main}/.git/new", forged)
    assert not (main / ".git" / "new").exists()


async def test_caches_of_package_managers_are_the_sessions(machine: Machine) -> None:
    script = 'mkdir -p "$PIP_CACHE_DIR" "$npm_config_cache" && echo "$PIP_CACHE_DIR"'
    said, code = await machine.run(script, machine.sandbox())
    assert (code, said) == (0, f"{machine.root}/scratch/cache/pip\n")


def test_what_is_there_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = find.__wrapped__()
    assert missing.kind == ("landlock" if not HERE["landlock"] else None)
    assert "bubblewrap is missing: apt install bubblewrap" in missing.text
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no user namespaces >&2; exit 1\n")
    broken.chmod(0o755)
    assert "bubblewrap does not work here: no user namespaces" in find.__wrapped__().text
