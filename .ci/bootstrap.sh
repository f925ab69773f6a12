#!/bin/sh
# Makes .venv and installs what is locked in requirements/. Plain sh: it must run where no Python is new enough.
# Usage: .ci/bootstrap.sh run | dev     A second call takes no time while the locks stay as they are.
set -u
cd "$(dirname "$0")/.." || exit 1

want=${1:-run}
python=.venv/bin/python
try='import sys; sys.exit(0 if sys.version_info >= (3, 12) else 1)'
lacks_venv=

say() { printf '%s\n' "$*" >&2; }

# A candidate counts only if it runs (a pyenv shim can exist and still fail) and can make environments.
is_good() {
    "$1" -c "$try" >/dev/null 2>&1 || return 1
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1 && return 0
    lacks_venv=$1
    return 1
}

pyenv_pythons() {
    for version in 3.14 3.13 3.12; do
        for found in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version"*/bin/python; do
            [ -x "$found" ] && printf '%s\n' "$found"
        done
    done
}

find_python() {
    for name in python3.14 python3.13 python3.12 python3; do
        if is_good "$name"; then command -v "$name"; return 0; fi
    done
    for found in $(pyenv_pythons); do
        if is_good "$found"; then printf '%s\n' "$found"; return 0; fi
    done
    if uv --version >/dev/null 2>&1; then
        found=$(uv python find --no-project '>=3.12' 2>/dev/null) ||
            { uv python install 3.12 >&2 && found=$(uv python find --no-project '>=3.12'); }
        if [ -n "$found" ] && is_good "$found"; then printf '%s\n' "$found"; return 0; fi
    fi
    if [ -n "$lacks_venv" ]; then
        say "$lacks_venv cannot make virtual environments: install its venv package (on Debian: apt-get install python3-venv) and run this again."
    else
        say "No Python 3.12 or newer was found: install one (from your system, pyenv or uv) and run this again."
    fi
    return 1
}

make_venv() {
    found=$(find_python) || exit 1
    say "Making .venv with $("$found" --version) ..."
    rm -rf .venv
    "$found" -m venv .venv || { say "The virtual environment could not be made; the reason stands above."; exit 1; }
}

# install NAME FILE...: one stamp per set, holding the checksum of its locks.
install() {
    stamp=.venv/installed-$1; shift
    sum=$(cat "$@" | cksum)
    [ "$(cat "$stamp" 2>/dev/null)" = "$sum" ] && return 0
    say "Installing what is locked in $* (a minute or so) ..."
    for lock in "$@"; do
        "$python" -m pip install --quiet --quiet --disable-pip-version-check --no-input --retries 2 --timeout 20 \
            --no-deps --require-hashes -r "$lock" || {
            say "The packages could not be installed: check the network (or where pip is told to look) and run this again."
            exit 1
        }
    done
    printf '%s' "$sum" >"$stamp"
}

command -v cksum >/dev/null 2>&1 || { say "The tool cksum is missing: install coreutils and run this again."; exit 1; }
"$python" -c "$try" >/dev/null 2>&1 && "$python" -m pip --version >/dev/null 2>&1 || make_venv
case $want in
    run) install run requirements/base.txt ;;
    dev) install run requirements/base.txt && install dev requirements/base.txt requirements/dev.txt ;;
    *) say "Usage: .ci/bootstrap.sh run | dev"; exit 2 ;;
esac
