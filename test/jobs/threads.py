"""threads.py - threads, subprocesses, multiprocessing, its own path"""
import hashlib
import multiprocessing
import os
import subprocess
import sys
import threading


def work(results, index):
    results[index] = hashlib.sha256(str(index).encode() * 10000).hexdigest()


def square(n):
    return n * n


if __name__ == "__main__":
    results = [None] * 8
    threads = [threading.Thread(target=work, args=(results, i)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(*results, sep="\n")
    print(subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, check=True))
    print(subprocess.run("exit 3", shell=True, check=False).returncode)
    with multiprocessing.Pool(2) as pool:
        print(pool.map(square, range(5)))
    print(sys.executable, os.path.realpath("/proc/self/exe"), sys.argv)
