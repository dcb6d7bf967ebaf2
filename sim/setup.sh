#!/bin/sh
# Readies the machine for `make`: Debian packages, then the virtual environment.
#
#   sh sim/setup.sh run|test [python3]
#
# Packages are installed only where they are missing and where that needs no password; otherwise one line names them.
set -eu

goal=$1
python=${2:-python3}

export DEBIAN_FRONTEND=noninteractive

have() { command -v "$1" >/dev/null 2>&1; }

if have apt-get && [ "$(id -u)" = 0 ]; then
    apt="apt-get"
elif have apt-get && have sudo && sudo -n true 2>/dev/null; then
    apt="sudo -n apt-get"
else
    apt=""
fi

# install PACKAGE...: quietly tries to, never fails.
install() {
    [ -n "$apt" ] || return 0
    echo "flashtrain: installing Debian package(s): $*"
    { $apt -qq update && $apt -qq install --yes --no-install-recommends "$@"; } >/dev/null 2>&1 || true
}

# Without these nothing works.
need() {
    echo "flashtrain: cannot go on without $2: install it with 'apt-get install $1'" >&2
    exit 1
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || need python3 "Python 3.11 or later"
has_venv() { "$python" -c 'import venv, ensurepip' 2>/dev/null; }
has_compiler() { have "${CXX:-c++}" || have g++ || have clang++; }
has_venv || install python3-venv
has_venv || need python3-venv "Python's venv module"
has_compiler || install g++
has_compiler || need g++ "a C++ compiler"

# Without these it works, but slower or with less covered.
want() {
    have "$1" || install "$1"
    have "$1" || echo "flashtrain: $1 is missing ($2); 'apt-get install $1' brings it" >&2
}
want ccache "rebuilds of the simulators will be slow"
if [ "$goal" = test ]; then
    want iverilog "tests on Icarus will be skipped"
fi

[ -x .venv/bin/pip ] || "$python" -m venv .venv
