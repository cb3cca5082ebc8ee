# shellcheck shell=sh
# For scripts that need the JDK of ./serve: they source this file, and call find_java.

# Before 25.0.3, G1 may move an array that native code is reading (JDK-8377811).
java_needed=25.0.3

say() { printf '%s\n' "${0##*/}: $*" >&2; }

# Prints the version of a JDK directory, such as 25.0.3 or 26-ea; nothing where there is no java.
# The `release` file saves starting a JVM only to ask it.
java_version() {
  [ -x "$1/bin/java" ] || return 0
  if [ -f "$1/release" ]; then
    sed -n 's/^JAVA_VERSION="\([0-9][^"]*\).*/\1/p' "$1/release"
  else
    "$1/bin/java" -version 2>&1 | sed -n 's/^[^"]*version "\([0-9][^"]*\).*/\1/p' | head -n 1
  fi
}

# Prints a version as one number that can be compared: 25000003 for 25.0.3, 25.0.3+9 and 25.0.3-ea.
version_number() (
  IFS=.
  # shellcheck disable=SC2086
  set -- ${1%%[!0-9.]*}
  echo $(($1 * 1000000 + ${2:-0} * 1000 + ${3:-0}))
)

is_new_enough() {
  # An early-access build is older than its release.
  case $1 in "$java_needed"-ea*) return 1 ;; esac
  [ "$(version_number "$1")" -ge "$(version_number "$java_needed")" ]
}

# Prints one directory a line: every place where a JDK may be, the likeliest first.
java_candidates() {
  printf '%s\n' "${JAVA_HOME:-}"
  on_path=$(command -v java || true)
  if [ -x "$on_path" ]; then
    # `java` on the path is often a link to a link; the JDK is where the last one leads.
    dirname "$(dirname "$(readlink -f "$on_path")")"
  fi
  if [ -x /usr/libexec/java_home ]; then
    /usr/libexec/java_home -v "${java_needed%%.*}+" 2>/dev/null || true
  fi
  for directory in /opt/java/openjdk /usr/lib/jvm/* \
    "${HOME:-/root}"/.sdkman/candidates/java/* "${HOME:-/root}"/.jdks/*; do
    printf '%s\n' "$directory"
  done
}

# Sets java_home to the first JDK that is new enough; the image has one at /opt/java/openjdk, so this is quick there.
find_java() {
  found=
  while IFS= read -r directory; do
    [ -n "$directory" ] || continue
    version=$(java_version "$directory")
    [ -n "$version" ] || continue
    if is_new_enough "$version"; then
      java_home=$directory
      [ "${JAVA_HOME:-$directory}" = "$directory" ] ||
        say "JAVA_HOME: found no Java $java_needed or newer in $JAVA_HOME, taking $directory"
      return
    fi
    found="${found:+$found,} Java $version in $directory"
  done <<CANDIDATES
$(java_candidates)
CANDIDATES
  say "needs Java $java_needed or newer, as older ones may move memory that libtorch reads (JDK-8377811); found:${found:- none}"
  say "install the newest JDK ${java_needed%%.*} (for instance from https://adoptium.net) or point JAVA_HOME at one"
  exit 1
}
