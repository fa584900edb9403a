# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""clean_root.py ROOT DEB...: a system of what the packages depend on and nothing else, in a folder, without network.

It holds the files of the essential packages and of all that DEB... need, as they are installed here, and dpkg's own records of
them: `dpkg -i` in the folder refuses what declares too few dependencies. Needs root."""

import collections
import glob
import os
import re
import shutil
import subprocess
import sys

root, *debs = sys.argv[1:]
OWN = ("etc/passwd", "etc/group", "etc/nsswitch.conf")  # made by scripts of packages


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def alternatives(depends):
    """'a (>= 1), b:any | c' as [['a'], ['b', 'c']]."""
    return [[re.sub(r"[ (:].*", "", name.strip()) for name in group.split("|")] for group in depends.split(",") if group.strip()]


def installed():
    fields = "${binary:Package}\\t${Essential}\\t${Provides}\\t${Pre-Depends},${Depends}\\t${db:Status-Status}\\n"
    packages, providers = {}, collections.defaultdict(list)
    native = ("", "all", output("dpkg", "--print-architecture").strip())
    for line in output("dpkg-query", "-W", "-f", fields).splitlines():
        name, essential, provides, depends, status = line.split("\t")
        plain, _, architecture = name.partition(":")
        if status == "installed" and architecture in native:
            packages[plain] = (name, essential == "yes", alternatives(depends))
            for group in alternatives(provides):
                providers[group[0]].append(plain)
    return packages, providers


def closure(packages, providers, wanted):
    names, todo = set(), list(wanted)
    while todo:
        group = todo.pop()
        found = next((name for name in group if name in packages), None) or next(
            (providers[name][0] for name in group if providers[name]), None)
        if not found:
            sys.exit(f"not installed: {' | '.join(group)}")
        if found not in names:
            names.add(found)
            todo += packages[found][2]
    return names


def copy_files(full_names):
    for folder in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if os.path.islink(f"/{folder}"):
            os.makedirs(f"{root}/usr/{folder}")
            os.symlink(f"usr/{folder}", f"{root}/{folder}")
    files = {f".{path}" for path in output("dpkg", "-L", *full_names).splitlines() if path.startswith("/") and os.path.lexists(path)}
    files |= {f"./{path}" for path in OWN if os.path.exists(f"/{path}")}
    skip = re.compile(r"\./usr/share/(doc|man|locale|info)/|\./usr/lib/python3|\.pyc$")
    listing = "\0".join(sorted(path for path in files if not skip.match(path)))
    make = subprocess.Popen(["tar", "-C", "/", "--no-recursion", "--null", "-T", "-", "-cf", "-"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    take = subprocess.Popen(["tar", "-C", root, "--keep-directory-symlink", "-xf", "-"], stdin=make.stdout)
    make.stdin.write(listing.encode())
    make.stdin.close()
    if take.wait() != 0:
        sys.exit("copying failed")


def copy_records(names, full_names):
    os.makedirs(f"{root}/var/lib/dpkg/info", exist_ok=True)
    for folder in ("updates", "triggers"):
        os.makedirs(f"{root}/var/lib/dpkg/{folder}", exist_ok=True)
    paragraphs = open("/var/lib/dpkg/status", encoding="utf-8").read().split("\n\n")
    kept = [text for text in paragraphs if text.split("\n")[0][len("Package: "):] in names]
    with open(f"{root}/var/lib/dpkg/status", "w", encoding="utf-8") as status:
        status.write("\n\n".join(kept) + "\n\n")
    for name in full_names:
        for end in ("list", "md5sums"):
            for path in glob.glob(f"/var/lib/dpkg/info/{glob.escape(name)}.{end}"):
                shutil.copy(path, f"{root}/var/lib/dpkg/info")
    shutil.copy("/var/lib/dpkg/info/format", f"{root}/var/lib/dpkg/info")


os.makedirs(root)
packages, providers = installed()
own = {output("dpkg-deb", "-f", deb, "Package").strip() for deb in debs}
wanted = [[name] for name, (_, essential, _) in packages.items() if essential]
for deb in debs:
    wanted += [group for group in alternatives(output("dpkg-deb", "-f", deb, "Depends")) if not own & set(group)]
names = closure(packages, providers, wanted)
full_names = sorted(packages[name][0] for name in names)
copy_files(full_names)
copy_records(names, full_names)
for folder in ("proc", "dev", "tmp", "root"):
    os.makedirs(f"{root}/{folder}", exist_ok=True)
print(f"{len(names)} packages")
