#!/usr/bin/env python3
"""compile.py FOLDER OPTION...: compiles FOLDER/text.cu, a CUDA text, to
FOLDER/code.so for the CPU (see emulate.h). Called by the stand-in for NVRTC.
What was compiled stays in kept/, where a program of another level finds it.
compile.py --header: compiles emulate.h, with which every text begins."""
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# A compiled header serves texts that are compiled with the same options. No -g,
# which is a quarter of the time.
COMPILER = ["g++", "-std=c++17", "-O1", "-w", "-fPIC", "-ffp-contract=off"]


def kernels(text):
    """Names of the kernels of a preprocessed text."""
    names = []
    for match in re.finditer(r"\b__global__\s+void\s*", text):
        at = match.end()
        if text.startswith("__launch_bounds__", at):
            at = text.index("(", at)
            depth = 0
            while True:
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                at += 1
                if depth == 0:
                    break
        names.append(re.match(r"\s*(\w+)\s*\(", text[at:]).group(1))
    return names


def without_dynamic(text):
    """Dynamic shared memory is what the running fiber is told."""
    return re.sub(r"extern __shared__ (\w+) (\w+)\[\];",
                  r"\1 *\2 = (\1 *)emu_here.dynamic;", text)


def kept_name(folder, flags):
    """Where the library of this text, its headers and options is kept."""
    key = hashlib.sha256("\n".join(flags).encode())
    for path in sorted(glob.glob(f"{folder}/*.h")) + [f"{folder}/text.cu"]:
        with open(path, "rb") as f:
            key.update(os.path.basename(path).encode() + f.read())
    os.makedirs(f"{HERE}/kept", exist_ok=True)
    return f"{HERE}/kept/{key.hexdigest()}.so"


def main():
    folder, options = sys.argv[1], sys.argv[2:]
    text = without_dynamic(open(f"{folder}/text.cu").read())
    for path in glob.glob(f"{folder}/*.h"):
        header = without_dynamic(open(path).read())
        with open(path, "w") as out:
            out.write(header)
    with open(f"{folder}/text.cc", "w") as out:
        out.write(f'#include "{HERE}/emulate.h"\n#line 1 "text.cu"\n{text}\n')
    flags = [o for o in options if o.startswith(("-D", "-I"))]
    kept = kept_name(folder, flags)
    if os.path.exists(kept):
        shutil.copy(kept, f"{folder}/code.so")
        return
    command = [*COMPILER, "-I", folder, *flags]
    seen = subprocess.run([*command, "-E", "-P", f"{folder}/text.cc"],
                          capture_output=True, text=True)
    if seen.returncode:
        sys.exit(seen.stderr)
    with open(f"{folder}/text.cc", "a") as out:
        for name in kernels(seen.stdout):
            out.write(
                f'extern "C" void *emu_pack_{name}(void **args) '
                f"{{ return emu_pack({name}, args); }}\n"
                f'extern "C" void emu_call_{name}(void *a) '
                f"{{ emu_call({name}, a); }}\n"
                f'extern "C" void emu_drop_{name}(void *a) '
                f"{{ emu_drop({name}, a); }}\n")
    done = subprocess.run(
        [*command, "-D__global__=", "-D__launch_bounds__(...)=", "-shared",
         "-o", f"{folder}/code.so", f"{folder}/text.cc",
         f"-L{os.environ['GBM_FAKE_CUDA']}", "-l:libcuda.so.1"],
        capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    beside = f"{kept}.{os.getpid()}"
    shutil.copy(f"{folder}/code.so", beside)
    os.rename(beside, kept)


if sys.argv[1] == "--header":
    subprocess.run([*COMPILER, "-x", "c++-header", f"{HERE}/emulate.h",
                    "-o", f"{HERE}/emulate.h.gch"], check=True)
else:
    main()
