#!/usr/bin/env bash
# deploy/watchkeeper.service under a real systemd: started, reloaded, stopped with busy agents, killed, and given a faulty
# configuration. Usage, as root on a Linux with systemd installed and the product built: test/e2e/systemd.sh
#
# systemd boots as process 1 of namespaces of its own (processes, mounts, network, control groups), on an overlay of this
# host's files that is thrown away afterwards. Nothing of the host's own systemd is touched. Each check is one line; the
# last line is `N passed, N failed`, and the exit code is 0 only if nothing failed.
set -u
here=$(readlink -f "$0")
product=$(readlink -f "$(dirname "$here")/../..")

# ---- Inside: from an empty mount namespace to systemd as process 1.
if [ "${1-}" = boot ]; then
  work=$2
  set -e
  mount --make-rprivate /
  mount -t tmpfs -o size=512m tmpfs "$work"
  mkdir "$work/upper" "$work/work" "$work/root"
  mount -t overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" overlay "$work/root"
  cd "$work/root"
  mkdir -p opt/watchkeeper
  for part in bin dist deploy package.json; do
    if [ -d "$product/$part" ]; then mkdir -p "opt/watchkeeper/$part"; else : >"opt/watchkeeper/$part"; fi
    mount --bind "$product/$part" "opt/watchkeeper/$part"
  done
  mkdir -p opt/watchkeeper/node_modules
  mount --bind "$(readlink -f "$product/node_modules")" opt/watchkeeper/node_modules
  mount -t proc proc proc
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 cgroup2 sys/fs/cgroup 2>/dev/null || { mount -t tmpfs tmpfs sys/fs; mkdir sys/fs/cgroup; mount -t cgroup2 cgroup2 sys/fs/cgroup; }
  mount -t tmpfs -o mode=755 tmpfs dev
  for node in null zero full random urandom tty; do : >"dev/$node"; mount --bind "/dev/$node" "dev/$node"; done
  mkdir dev/pts dev/shm
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  mount -t tmpfs -o mode=1777 tmpfs dev/shm
  mount -t tmpfs -o mode=755 tmpfs run
  mount -t tmpfs -o mode=1777 tmpfs tmp
  # Of this host's services none: only what the unit needs.
  rm -rf etc/systemd/system/*.wants etc/systemd/system/*.requires etc/fstab
  for unit in systemd-udevd.service systemd-udev-trigger.service systemd-udevd-control.socket systemd-udevd-kernel.socket \
    systemd-remount-fs.service systemd-sysctl.service systemd-modules-load.service dev-hugepages.mount dev-mqueue.mount \
    sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount getty.target; do
    ln -sf /dev/null "etc/systemd/system/$unit"
  done
  ln -sf /lib/systemd/system/basic.target etc/systemd/system/default.target
  mkdir -p .before
  pivot_root . .before
  cd /
  umount -l /.before
  exec env -i container=other PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
fi

# ---- Outside.
[ "$(id -u)" = 0 ] || { echo 'systemd.sh: needs root' >&2; exit 2; }
[ -x /lib/systemd/systemd ] || { echo 'systemd.sh: there is no /lib/systemd/systemd' >&2; exit 2; }
groups=$(findmnt -rn -t cgroup2 -o TARGET | head -1)
[ -n "$groups" ] || { echo 'systemd.sh: cgroup2 is mounted nowhere' >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/wk-systemd.XXXXXX")
group=$groups/wk-systemd-$$
mkdir "$group"
passed=0
failed=0

# The control group is entered first, so that it is the root of what systemd sees.
(echo "$BASHPID" >"$group/cgroup.procs" && exec unshare --mount --uts --ipc --net --pid --cgroup --fork --kill-child \
  bash "$here" boot "$work") >"$work.log" 2>&1 </dev/null &
outer=$!

finish() {
  kill -KILL "$outer" 2>/dev/null
  wait "$outer" 2>/dev/null
  for _ in $(seq 50); do rmdir "$group" 2>/dev/null && break; find "$group" -mindepth 1 -depth -type d -exec rmdir {} + 2>/dev/null; sleep 0.1; done
  rm -rf "$work" "$work.log"
}
trap finish EXIT

inside() { nsenter -t "$init" --mount --uts --ipc --net --pid --cgroup -- "$@"; }
until_true() { # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}
check() { # WORDS COMMAND...
  local words=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok      $words"
  else
    failed=$((failed + 1))
    echo "FAILED  $words"
    inside journalctl -q --no-pager -u watchkeeper -n 15 -o cat | cut -c1-300 | sed 's/^/          /'
  fi
}

find_init() { init=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null | tr -d ' '); [ -n "$init" ]; }
is_booted() { [ -n "$init" ] && inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; }
until_true 10 find_init && until_true 60 is_booted || { echo 'systemd.sh: systemd did not boot:'; cat "$work.log"; exit 1; }
echo "        $(inside systemctl --version | head -1) as process $init, one of its own"

# ---- As docs/service.md says it is installed.
inside useradd --system --create-home --shell /bin/bash watchkeeper
inside install -d -o watchkeeper -g watchkeeper -m 0700 /etc/watchkeeper
inside install -m 0600 /dev/null /etc/watchkeeper/watchkeeper.env
inside install -d -o watchkeeper -g watchkeeper /srv/one /srv/two /srv/three
inside install -m 0644 /opt/watchkeeper/deploy/watchkeeper.service /etc/systemd/system/
put() { inside sh -c "cat >$1 && chown watchkeeper $1 && chmod ${2:-0600} $1"; }
put /srv/agent 0755 <<'AGENT'
#!/bin/bash
# Answers where it was interrupted or is a second attempt; else it is busy, in a tool.
prompt=$(cat)
case $prompt in *'service was restarted'*) echo 'went on'; exit ;; esac
[ "$WATCHKEEPER_ATTEMPT" = 2 ] && { echo 'tried again'; exit; }
setsid sleep 600
AGENT
projects() { # NAME...
  local name list=
  for name in "$@"; do list+="${list:+,}\"$name\":{\"directory\":\"/srv/$name\",\"agent\":{\"kind\":\"command\",\"command\":[\"/srv/agent\"]}}"; done
  echo "{\"projects\":{$list},\"timings\":{\"drainMs\":2000,\"killGraceMs\":2000}}" | put /etc/watchkeeper/watchkeeper.config.json
}
wk() { inside runuser -u watchkeeper -- env WATCHKEEPER_LOGS=/var/lib/watchkeeper/logs sh -c 'cd /etc/watchkeeper && exec /opt/watchkeeper/bin/watchkeeper "$@"' wk "$@"; }
says() { inside journalctl -q --no-pager -u watchkeeper -o cat | grep -qF "$1"; }
times() { [ "$(inside journalctl -q --no-pager -u watchkeeper -o cat | grep -cF "$1")" -ge "$2" ]; }
is() { [ "$(inside systemctl is-active watchkeeper)" = "$1" ]; }
busy() { [ "$(inside pgrep -u watchkeeper -cx sleep)" = "$1" ]; }
nothing_left() { ! inside pgrep -u watchkeeper >/dev/null; }
answered() { times 'answer delivered after' "$1"; }
ask() { local name; for name in "$@"; do wk enqueue --project "$name" --text 'long work' >/dev/null || return 1; done; }

# Agents may be isolated by bubblewrap, which needs a /proc of its own below whatever the unit hides.
if [ -x /usr/bin/bwrap ]; then
  sed -e 's#^ExecStart=.*#ExecStart=/usr/bin/bwrap --ro-bind / / --dev /dev --proc /proc --unshare-pid --unshare-ipc --die-with-parent /usr/bin/grep -E ^(Pid|Uid|NoNewPrivs): /proc/self/status#' \
    -e 's|^Type=.*|Type=oneshot|' -e '/^Restart/d' -e '/^ExecReload/d' "$product/deploy/watchkeeper.service" |
    inside sh -c 'cat >/run/systemd/system/isolated.service'
  inside systemctl daemon-reload
  check 'bubblewrap can isolate an agent below the unit' inside systemctl start isolated
  inside journalctl -q --no-pager -u isolated -o cat | tail -4 | sed 's/^/        /'
fi

projects one two
inside systemctl daemon-reload
check 'systemd reads the unit without a complaint' sh -c '! nsenter -t "$0" -a systemd-analyze verify /etc/systemd/system/watchkeeper.service 2>&1 | grep -i watchkeeper' "$init"
check 'it is started' inside systemctl start watchkeeper
check 'the bridge is up, and works as its own user' until_true 30 says 'the bridge is up'
main=$(inside systemctl show -P MainPID watchkeeper)
check 'below it nobody writes to /usr' sh -c '! nsenter -t "$0" -a nsenter -t "$1" -m touch /usr/written 2>/dev/null' "$init" "$main"
check 'nor to the kernel' sh -c '! nsenter -t "$0" -a nsenter -t "$1" -m sh -c "echo 1 >/proc/sys/kernel/printk_delay" 2>/dev/null' "$init" "$main"
doctor() {
  inside systemd-run --quiet --pipe --wait -p User=watchkeeper -p WorkingDirectory=/etc/watchkeeper \
    -p EnvironmentFile=-/etc/watchkeeper/watchkeeper.env -p Environment=WATCHKEEPER_LOGS=/var/lib/watchkeeper/logs \
    /opt/watchkeeper/bin/watchkeeper doctor --quick
}
check 'a command with the environment of the unit finds the bridge and its projects' \
  sh -c 'printf %s "$0" | grep -q "directory of two.*/srv/two"' "$(doctor 2>&1)"
check 'two messages are accepted' ask one two
check 'two agents are busy' until_true 30 busy 2

projects one two three
check 'systemctl reload: it reads the configuration again' inside systemctl reload watchkeeper
check 'a project is added' until_true 10 says 'projects added: three'
echo '{"projects": {"one": {}}}' | put /etc/watchkeeper/watchkeeper.config.json
inside systemctl reload watchkeeper
check 'a configuration with a fault is refused in words' until_true 10 says 'the old one stays'
projects one two three
check 'the added project is served all the same' ask three
check 'and the agents went on meanwhile' until_true 20 busy 3

since=$SECONDS
check 'systemctl stop with three busy agents' inside systemctl stop watchkeeper
check 'it took less than TimeoutStopSec' [ $((SECONDS - since)) -lt 60 ]
check 'the unit is inactive, not failed' is inactive
check 'nothing of it is left' nothing_left
check 'it is started again' inside systemctl start watchkeeper
check 'all three messages went on and were answered' until_true 60 answered 3
check 'no attempt was used, and no event was written' sh -c '! nsenter -t "$0" -a test -s /var/lib/watchkeeper/logs/critical_events.jsonl' "$init"

inside mkdir -p /run/systemd/system/watchkeeper.service.d
printf '[Service]\nKillMode=control-group\n' | inside sh -c 'cat >/run/systemd/system/watchkeeper.service.d/all.conf'
inside systemctl daemon-reload
check 'with KillMode=control-group, messages for two agents' ask one two
check 'which are busy' until_true 30 busy 2
check 'every process of it gets SIGTERM' inside systemctl stop watchkeeper
check 'nothing is left of it' nothing_left
inside systemctl start watchkeeper
check 'both messages went on and were answered' until_true 60 answered 5
check 'no attempt was used, and no event was written' sh -c '! nsenter -t "$0" -a test -s /var/lib/watchkeeper/logs/critical_events.jsonl' "$init"
inside rm /run/systemd/system/watchkeeper.service.d/all.conf
inside systemctl daemon-reload

check 'a message for an agent' ask one
check 'which is busy' until_true 30 busy 1
inside systemctl kill --signal=SIGKILL --kill-whom=main watchkeeper
check 'killed, it is started again by itself' until_true 60 times 'the bridge is up' 4
check 'the message had its second attempt, and was answered' until_true 60 answered 6
check 'its agent is gone' busy 0

echo '{"projects": {"one": {}}}' | put /etc/watchkeeper/watchkeeper.config.json
inside systemctl restart watchkeeper
check 'a configuration with a fault at the start is not tried again and again' until_true 30 is failed
check 'and its exit code is 2' [ "$(inside systemctl show -P ExecMainStatus watchkeeper)" = 2 ]

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
