#!/bin/sh
# Makes a root file system of a few packages of Debian: system.sh ROOT PACKAGE...
# It has their libraries and programs, and of each package the record that scanners look for. What only people or build
# tools read is left out, and so are all scripts of packages: there is no dpkg, apt or perl.
set -eu
root=$1
shift

mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64" "$root/usr/sbin" "$root/var/lib/dpkg/status.d" \
  "$root/etc" "$root/opt/ml/model" "$root/proc" "$root/sys" "$root/dev" "$root/run"
mkdir -m 1777 "$root/tmp"
mkdir -m 700 "$root/root"
# As Debian has them.
for directory in bin lib lib64 sbin; do ln -s "usr/$directory" "$root/$directory"; done

for package in "$@"; do
  dpkg -L "$package" | grep -vE '/(doc|gconv|man|lintian|gdb|gcc|info|locale|zoneinfo|base-files|skel|update-motd\.d)/' |
    while read -r file; do
      if [ ! -d "$file" ] || [ -L "$file" ]; then
        case $file in /bin | /lib | /lib64 | /sbin) ;; *) [ ! -e "$file" ] || cp -a --parents "$file" "$root" ;; esac
      fi
    done
  mkdir -p "$root/usr/share/doc/$package"
  cp -L "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package"
  dpkg-query --status "$package" > "$root/var/lib/dpkg/status.d/$package"
done
cp -a --parents /usr/lib/locale/C.utf8 /etc/nsswitch.conf /etc/ld.so.conf /etc/ld.so.conf.d "$root"

# What the launcher runs, and what is handy in a container that does not do what it should.
for program in sh awk cat cp dirname du env find grep head id kill ls ln mkdir mv ps readlink rm sed sleep sort tail tr uname wc; do
  # The shell of Debian has a name of its own, which a link would follow.
  rm -f "$root/usr/bin/$program"
  ln -s busybox "$root/usr/bin/$program"
done

printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'berth:x:65532:65532:berth:/tmp:/bin/sh' 'nobody:x:65534:65534:nobody:/nonexistent:/bin/false' \
  > "$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'berth:x:65532:' 'nogroup:x:65534:' > "$root/etc/group"
ldconfig -r "$root"
# The cache of ldconfig alone: it is made anew where libraries are mounted.
rm -rf "$root/var/cache"
find "$root" -xdev -perm /6000 -type f | while read -r file; do
  echo "system.sh: found $file with setuid or setgid, expected none" >&2
  exit 1
done
