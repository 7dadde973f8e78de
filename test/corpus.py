#!/usr/bin/env python3
"""corpus.py - every installed program, natively and wrapped

corpus.py [--jobs N] [--timeout S] [--min N] [--only GLOB] -- WRAPPER...

Every program of /usr/bin, /usr/sbin, /bin and /sbin that exits within the
time limit on --version or --help, without input, runs twice natively and once
as WRAPPER... PROGRAM. Exit status, stdout and stderr must agree; what already
differs between native runs (clocks, pids, temporary names) is left out line
by line. A program that differs is tried again before it counts. TAP output;
every difference is a test that failed.

The programs run as root on the real machine's files, so the runner first
moves into namespaces of its own: mounts (everything read-only and nosuid; /tmp, /run,
/var/tmp, /dev and HOME are fresh tmpfs, /dev with no device but null, zero, full, random,
urandom, tty and ptys), network (none, which also cuts abstract sockets off), IPC, host name; each program has a
pid namespace. CAP_SYS_BOOT, _MODULE, _RAWIO, _TIME and MKNOD are dropped. That is
why reboot, mkfs, fdisk and the like need not be skipped: "mkfs --help"
is part of the corpus, and there is nothing it could reach.
"""
import argparse
import ctypes
import fnmatch
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

DIRECTORIES = ("/usr/bin", "/usr/sbin", "/bin", "/sbin")
INSIDE = "HWCAP_CORPUS_INSIDE"
OUTPUT_LIMIT = 1 << 20

# Left out, with the reason. Everything else runs.
SKIP = {
    "killall5": "signals every process whatever its arguments are, also our own runner",
}
DROPPED = ("sys_boot", "sys_module", "sys_rawio", "sys_time", "mknod")


def sh(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def enter_namespaces(arguments):
    """Start this script again in its namespaces; returns its exit status."""
    staging = tempfile.mkdtemp(prefix="hwcap-corpus.")
    command = ["unshare", "--mount", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        command.append("--map-root-user")
    try:
        return subprocess.run(command + [sys.executable, os.path.abspath(__file__)] + arguments,
                              env=dict(os.environ, **{INSIDE: staging}), check=False).returncode
    finally:
        os.rmdir(staging)


def mount_points():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as lines:
        paths = [line.split()[4] for line in lines]
    return [path.encode().decode("unicode_escape") for path in paths]


def make_dev(path):
    os.mkdir(path)
    sh("mount", "-t", "tmpfs", "-o", "mode=755,size=16m", "dev", path)
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        open(f"{path}/{name}", "w", encoding="ascii").close()
        sh("mount", "--bind", f"/dev/{name}", f"{path}/{name}")
    for name in ("pts", "shm"):
        os.mkdir(f"{path}/{name}")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("ptmx", "pts/ptmx"),
                         ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2")):
        os.symlink(target, f"{path}/{name}")
    sh("mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666", "devpts", f"{path}/pts")


def build_sandbox(staging, wrapper):
    """Rearrange the mounts; returns WRAPPER with its program's new path."""
    home = os.environ.get("HOME", "/root")
    sh("mount", "--make-rprivate", "/")
    sh("mount", "-t", "proc", "proc", "/proc")
    sh("mount", "-t", "tmpfs", "-o", "mode=755", "corpus", staging)
    make_dev(f"{staging}/dev")
    program = f"{staging}/wrapper"
    shutil.copy(shutil.which(wrapper[0]) or wrapper[0], program)
    for point in mount_points():
        if not point.startswith(staging) and not point.startswith("/proc"):
            # Some of a machine's mounts can be hidden below others: those are out of reach anyway.
            subprocess.run(["mount", "-o", "remount,bind,ro,nosuid", point], check=False,
                           stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for path in ("/proc/sys", "/proc/sysrq-trigger"):
        if os.path.exists(path):
            sh("mount", "--bind", path, path)
            sh("mount", "-o", "remount,bind,ro", path)
    descriptor = os.open(staging, os.O_PATH)
    inside = f"/proc/{os.getpid()}/fd/{descriptor}"
    for path in ("/tmp", "/var/tmp", "/run", home):
        if os.path.isdir(path):
            sh("mount", "-t", "tmpfs", "-o", "mode=1777,nosuid", "corpus", path)
    sh("mount", "--rbind", f"{inside}/dev", "/dev")
    os.mkdir("/run/corpus", 0o755)
    shutil.copy(f"{inside}/wrapper", "/run/corpus/" + os.path.basename(wrapper[0]))
    os.close(descriptor)
    os.chdir("/")
    return ["/run/corpus/" + os.path.basename(wrapper[0])] + wrapper[1:]


class Runner:
    def __init__(self, wrapper, timeout):
        self.wrapper = wrapper
        self.timeout = timeout
        self.environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": os.environ.get("HOME", "/root"), "LC_ALL": "C.UTF-8", "TERM": "dumb",
            # Two native runs agree often enough on the order of a hash of two keys.
            "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0",
            "USER": "root", "LOGNAME": "root", "TZ": "UTC", "PAGER": "cat",
        }

    def run(self, argv):
        """(status, stdout, stderr), or None where the time is over."""
        process = subprocess.Popen(
            # The shell is PID 1, so that the program is not: signals act on it.
            ["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", '"$@"; exit $?', "sh"] + argv,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment, start_new_session=True, cwd="/")
        try:
            out, err = process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None
        return process.returncode, out[:OUTPUT_LIMIT], err[:OUTPUT_LIMIT]

    def compare(self, program):
        """(option, problem): what was run and how it differs; None: not run."""
        for option in ("--version", "--help"):
            first = self.run([program, option])
            if first is not None:
                break
        else:
            return None, "does not exit"
        natives, problem = [first], "?"
        for _ in range(3):
            again = self.run([program, option])
            if again is None:
                return None, "does not always exit"
            natives.append(again)
            problem = differs(natives, self.run(self.wrapper + [program, option]))
            if not problem:
                break
        return option, problem


def stable_lines(outputs):
    """The lines all outputs agree on by position, None where they do not."""
    split = [output.splitlines() for output in outputs]
    if len({len(lines) for lines in split}) != 1:
        return None
    return [line if all(other[i] == line for other in split) else None
            for i, line in enumerate(split[0])]


def differs(natives, wrapped):
    """How WRAPPED differs from what NATIVES agree on; None if it does not."""
    if wrapped is None:
        return "wrapped: does not exit"
    if wrapped[0] not in {native[0] for native in natives}:
        return f"exit status {natives[0][0]} natively, {wrapped[0]} wrapped: {wrapped[2][-300:]!r}"
    for index, name in ((1, "stdout"), (2, "stderr")):
        expected = stable_lines([native[index] for native in natives])
        if expected is None:
            continue
        got = wrapped[index].splitlines()
        if len(got) != len(expected):
            return f"{name}: {len(expected)} lines natively, {len(got)} wrapped: {wrapped[index][-300:]!r}"
        for want, have in zip(expected, got):
            if want is not None and want != have:
                return f"{name}: {want!r} natively, {have!r} wrapped"
    return None


def programs(only):
    """Every program once, by real directory."""
    seen, found = set(), []
    for directory in DIRECTORIES:
        directory = os.path.realpath(directory)
        if directory in seen or not os.path.isdir(directory):
            continue
        seen.add(directory)
        for name in sorted(os.listdir(directory)):
            path = f"{directory}/{name}"
            try:
                mode = os.stat(path).st_mode
            except OSError:
                continue
            if stat.S_ISREG(mode) and mode & 0o111 and fnmatch.fnmatch(name, only):
                found.append(path)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=10)
    parser.add_argument("--min", type=int, default=600)
    parser.add_argument("--only", default="*")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("wrapper", nargs="+")
    arguments = parser.parse_args()

    if INSIDE not in os.environ:
        sys.exit(enter_namespaces(sys.argv[1:]))
    wrapper = build_sandbox(os.environ[INSIDE], arguments.wrapper)
    for name in DROPPED:
        drop_bounding(name)
    sys.exit(report(arguments, Runner(wrapper, arguments.timeout)))


CAPABILITIES = {"sys_module": 16, "sys_rawio": 17, "sys_boot": 22, "sys_time": 25, "mknod": 27}


def drop_bounding(name):
    """An exec as root gets no capability that is not in the bounding set."""
    prctl_capbset_drop = 24
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(prctl_capbset_drop, CAPABILITIES[name], 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "unable to drop CAP_" + name.upper())


def report(arguments, runner):
    tests = failed = ran = 0
    skipped, silent = [], []

    def result(good, text):
        nonlocal tests, failed
        tests += 1
        failed += not good
        print(f"{'ok' if good else 'not ok'} {tests} - {text}", flush=True)

    chosen = []
    for path in programs(arguments.only):
        reason = SKIP.get(os.path.basename(path))
        if reason:
            skipped.append(f"{path}: {reason}")
        else:
            chosen.append(path)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for path, (option, problem) in zip(chosen, pool.map(runner.compare, chosen)):
            if option is None:
                silent.append(f"{path}: {problem}")
                continue
            ran += 1
            if arguments.verbose:
                print(f"# {path} {option}: {problem or 'same'}")
            if problem:
                result(False, f"{path} {option}: {problem}")
    different = failed
    for line in skipped + silent:
        print(f"# left out: {line}")
    print(f"# {len(chosen) + len(skipped)} programs, {ran} compared, {different} different, "
          f"{len(skipped)} skipped, {len(silent)} that do not exit")
    result(different == 0, f"no difference among {ran} programs")
    result(ran >= arguments.min, f"at least {arguments.min} programs were compared ({ran})")
    print(f"1..{tests}")
    return failed > 0


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
main()
