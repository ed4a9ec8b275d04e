# Notes that an agent's program ends, for the next reader of session memory. A person waits for this hook, and Claude Code ends it after
# 1.5 s, so it waits for no other program.
# Uses home. memory/programs/spool.ts reads what this writes.

# The program that ends, and those above it: the agent may have started this through a shell. A name may hold anything but the last `)`.
agents='' pid=$PPID
for _ in 1 2 3; do
  start=''
  if [ -r "/proc/$pid/stat" ] && IFS= read -r stat <"/proc/$pid/stat"; then
    set -f
    # shellcheck disable=SC2086 # It is a list of numbers.
    set -- ${stat##*) }
    set +f
    start=${20-}
  else
    set --
  fi
  agents="$agents $pid:$start"
  pid=${2-1}
  [ "$pid" -gt 1 ] 2>/dev/null || break
done
boot=''
[ ! -r /proc/sys/kernel/random/boot_id ] || IFS= read -r boot </proc/sys/kernel/random/boot_id

# A payload is one line, or ends with a line of one brace. The input may stay open after it, or say nothing, for two seconds at most:
# bash has a limit of its own; in other shells a signal ends the wait, and `read` leaves what it has got.
limit='' over='' watch=''
if [ -n "${BASH_VERSION-}" ]; then
  limit=-t2
else
  trap 'over=1' ALRM
  {
    # A signal that can be caught is lost in a child that is not a program yet.
    trap 'kill -s KILL $!; exit' TERM
    sleep 2 &
    wait $! && kill -s ALRM $$
  } </dev/null >/dev/null 2>&1 &
  watch=$!
fi
payload=''
while [ -z "$over" ]; do
  # shellcheck disable=SC2086 # It may be none.
  IFS= read -r $limit line || over=1
  payload=$payload$line
  case $payload in "$line"*) case $line in *'}') break ;; esac ;; esac
  [ "$line" != '}' ] || break
done
[ -z "$watch" ] || kill "$watch" 2>/dev/null

umask 077
[ -d "$home/spool" ] || mkdir "$home/spool" 2>/dev/null
if [ -O "$home/spool" ] && [ -n "$payload" ]; then
  set -C
  printf '1 %s%s\n%s\n' "${boot:--}" "$agents" "$payload" 2>/dev/null >"$home/spool/${agents##* }.$$"
  set +C
fi
