#!/usr/bin/env bash
# docker-compose.yml and Dockerfile under a real container engine: brought up, asked, its agents put to the test, its bridge
# killed, stopped and killed with busy agents, its agents' user changed, its configuration spoilt. Telegram and GitHub are stand-ins in a container of their own.
# Usage, as root, with Docker, its compose plugin, and the product built: test/container/engine.sh
#
# The base images are used as the engine has them, else pulled. Without a registry, WATCHKEEPER_BASE_IMAGES names archives of
# `docker save`, with spaces between them, that are loaded first; NODE_IMAGE and REDIS_IMAGE name what is in them, as for compose,
# because an image that was loaded has not the digest of a registry. The build
# needs the registry of npm and Debian's packages. Images, volumes and folders of its own are removed at the end. Each check is
# one line; the last line is `N passed, N failed`, and the exit code is 0 only if nothing failed. It takes about eight minutes.
set -u
product=$(readlink -f "$(dirname "$0")/../..")
give_up() { echo "engine.sh: $*" >&2; exit 2; }

[ "$(id -u)" = 0 ] || give_up 'needs root'
command -v docker >/dev/null || give_up 'there is no docker on PATH'
timeout 20 docker info >/dev/null 2>&1 || give_up "the engine does not answer: $(timeout 20 docker info 2>&1 | tail -1)"
docker compose version >/dev/null 2>&1 || give_up 'docker has no compose plugin'
[ -f "$product/dist/test/container/peersMain.js" ] || give_up 'the product is not built: npm ci && npm run build'
for archive in ${WATCHKEEPER_BASE_IMAGES-}; do
  timeout 300 docker load -q -i "$archive" || give_up "cannot load $archive"
done
node_image=${NODE_IMAGE:-$(sed -n 's/^ARG NODE_IMAGE=//p' "$product/Dockerfile")}
redis_image=${REDIS_IMAGE:-$(sed -n 's/^ *image: ${REDIS_IMAGE:-\(.*\)}$/\1/p' "$product/docker-compose.yml")}
for image in "$node_image" "$redis_image"; do
  docker image inspect "$image" >/dev/null 2>&1 || timeout 600 docker pull -q "$image" ||
    give_up "there is no image $image, and it cannot be pulled; WATCHKEEPER_BASE_IMAGES can name an archive with it"
done

name=wk-engine-$$
work=$(mktemp -d "${TMPDIR:-/tmp}/$name.XXXXXX")
passed=0
failed=0
export NODE_IMAGE=$node_image REDIS_IMAGE=$redis_image
compose() { # ARGUMENTS...
  timeout "${within:-300}" docker compose --project-name "$name" --project-directory "$product" --env-file "$work/env" \
    -f "$product/docker-compose.yml" -f "$work/override.yml" "$@" </dev/null
}
finish() {
  compose down --volumes --remove-orphans --timeout 5 >/dev/null 2>&1
  docker image rm "$name" >/dev/null 2>&1
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

until_true() { # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.5
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
    { compose ps --all; compose logs --no-color --tail 8; } 2>&1 | cut -c1-300 | sed 's/^/          /'
  fi
}

# ---- Two projects: an agent that prints text, and one that tells its calls. Nothing lies in the product's own folders.
telegram_token=7000000001:engine-token-that-opens-nothing-else
github_token=ghp_engineTokenThatOpensNothingElse00000
mkdir -p "$work/config" "$work/projects/text" "$work/projects/lines" "$work/peers"
chmod 0755 "$work"
mkfifo "$work/peers/say"
echo "$telegram_token" >"$work/config/telegram-bot-token"
chmod 0600 "$work/config/telegram-bot-token"
cat >"$work/config/watchkeeper.config.json" <<'CONFIG'
{
  "projects": {
    "text": {
      "directory": "/projects/text", "chats": [71], "senders": [71], "repository": "example/website",
      "agent": { "kind": "command", "command": ["/projects/text/agent"] }
    },
    "lines": {
      "directory": "/projects/lines", "chats": [72], "senders": [72], "repository": "example/website",
      "agent": { "kind": "command", "command": ["/projects/lines/agent"], "output": "json_lines" }
    }
  }
}
CONFIG
cat >"$work/projects/text/agent" <<'AGENT'
#!/bin/bash
# Busy when it is asked to work for long, unless it was interrupted.
prompt=$(cat)
echo "$WATCHKEEPER_SESSION $WATCHKEEPER_ATTEMPT" >>runs
case $prompt in
  *'service was restarted'*) echo 'it went on' ;;
  *'long work'*) setsid sleep 600 ;;
  *'look around'*) ./probe >probed && echo 'it looked around' ;;
  *) echo "it heard: ${prompt%%$'\n'*}" ;;
esac
AGENT
cat >"$work/projects/lines/agent" <<'AGENT'
#!/bin/bash
# Busy in a tool in its first attempt.
cat >/dev/null
echo "$WATCHKEEPER_SESSION $WATCHKEEPER_ATTEMPT" >>runs
[ "$WATCHKEEPER_ATTEMPT" = 2 ] && { echo '{"event":"answer","text":"it tried again"}'; exit; }
echo '{"event":"pre_tool_use","tool_use_id":"1","tool_name":"bash","tool_input":{"command":"sleep 600"},"timeout_ms":600000}'
setsid sleep 600
AGENT
cat >"$work/projects/text/probe" <<'PROBE'
#!/bin/bash
# What whoever runs it gets of the bridge's.
for process in /proc/[0-9]*; do
  grep -qsa cli/main.js "$process/cmdline" && bridge=${process#/proc/}
done
try() { if (eval "$2") >/dev/null 2>&1; then echo "got     $1"; else echo "denied  $1"; fi; }
use_redis() {
  password=$(sed 's#.*://:\(.*\)@.*#\1#' /private/redis/url)
  exec 3<>/dev/tcp/redis/6379
  printf 'AUTH %s\r\nPING\r\n' "${password:-none}" >&3
  read -r -t 5 -u 3 && read -r -t 5 -u 3 answer && [[ $answer == +PONG* ]]
}
[ -n "$bridge" ] || { echo 'there is no bridge'; exit 1; }
id
try "read the bridge's environment" 'cat "/proc/$bridge/environ" || cat /proc/1/environ'
try 'find a secret in the own environment' 'env | grep -E "TOKEN|REDIS_URL|PING_URL"'
try 'see what the bridge has open' 'ls "/proc/$bridge/fd/" | grep .'
try 'go through the root folder of the bridge' 'ls "/proc/$bridge/root/private" || ls /proc/1/root/private'
try 'signal the bridge' 'kill -0 "$bridge"'
try 'read the logs' 'cat /data/logs/bridge.log'
try 'read a secret file' 'cat /config/telegram-bot-token || cat /private/secrets/TELEGRAM_BOT_TOKEN'
try 'read the configuration' 'cat /config/watchkeeper.config.json'
try 'read the password of Redis' 'cat /private/redis/url'
try 'use Redis' use_redis
try 'write a log' ': >>/data/logs/bridge.log'
try 'write critical events' ': >>/data/logs/critical_events.jsonl'
try 'change the configuration' ': >>/config/watchkeeper.config.json'
try 'change the program' ': >>/app/bin/watchkeeper'
try 'become root' 'setpriv --reuid=0 --clear-groups true'
try 'become the bridge' 'setpriv --reuid=10001 --clear-groups true'
try 'write in the project' 'echo x >mine'
try 'write in the home' 'echo x >"$HOME/mine"'
try 'write temporary files' mktemp
PROBE
chmod 0755 "$work"/projects/*/agent "$work/projects/text/probe"
chown -R 1000:1000 "$work/projects" "$work/config"
cat >"$work/env" <<ENV
CONFIG_FOLDER=$work/config
PROJECTS_FOLDER=$work/projects
WATCHKEEPER_CONFIG=/config/watchkeeper.config.json
TELEGRAM_API_ROOT=http://peers:8081
TELEGRAM_BOT_TOKEN_FILE=/config/telegram-bot-token
GITHUB_API_URL=http://peers:8082
GITHUB_TOKEN=$github_token
HEALTH_PORT=0
ENV
cat >"$work/override.yml" <<OVERRIDE
services:
  bridge: { image: $name }
  standby: { image: $name }
  peers:
    image: $node_image
    init: true
    command: [node, /product/dist/test/container/peersMain.js, /peers, example/website, "$telegram_token", $github_token]
    volumes:
      - $(readlink -f "$product/.builds/current"):/product/dist:ro
      - $product/package.json:/product/package.json:ro
      - $(readlink -f "$product/node_modules"):/product/node_modules:ro
      - $work/peers:/peers
OVERRIDE

quietly() { "$@" >/dev/null 2>&1; }
parts='bridge standby redis'
up() { compose up -d --wait $parts >"$work/up.log" 2>&1 || { tail -5 "$work/up.log"; return 1; }; }
build() { within=1800 compose build bridge >"$work/build.log" 2>&1 || { tail -20 "$work/build.log"; return 1; }; }
container() { compose ps --all --quiet "$1"; }
state() { docker inspect --format "$2" "$(container "$1")"; }            # SERVICE FORMAT
image_of() { state "$1" '{{.Image}}'; }
health() { [ "$(state "$1" '{{.State.Health.Status}}')" = "$2" ]; }      # SERVICE STATUS
all_healthy() { local part; for part in $parts; do health "$part" healthy || return 1; done; }
events() { compose exec -T standby cat /data/logs/critical_events.jsonl 2>/dev/null; }
doctor() { compose exec -T "$1" watchkeeper doctor >"$work/doctor.log" 2>&1; } # SERVICE
doctor_is_green() { doctor bridge && grep -q '^ok  *bridge: ' "$work/doctor.log"; }
peers_are_up() { compose exec -T peers node -e 'fetch("http://127.0.0.1:8082/").catch(() => process.exit(1))' 2>/dev/null; }

seen=$work/peers/telegram.jsonl
say() { # CHAT TEXT; sets session, whose name begins with the project's
  timeout 10 sh -c 'echo "$1 $2" >"$0"' "$work/peers/say" "$1" "$2" || return 1
  until_true 10 said "$1" "$2" || return 1
  session=tg_$([ "$1" = 71 ] && echo text || echo lines)_$1_$message
}
said() { message=$(grep "\"chat\":$1,.*\"who\":\"person $1\"" "$seen" 2>/dev/null | grep -F "$2" | tail -1 | sed 's/.*"message_id":\([0-9]*\).*/\1/'); [ -n "$message" ]; }
answers() { # TEXT; how many messages of the bot say it in answer to the last message
  grep "\"reply_to\":$message," "$seen" | grep '"who":"bot","what":"message"' | grep -cF "\"text\":\"$1"
}
answered() { [ "$(answers "$1")" -ge 1 ]; }
runs() { grep -h "^$session" "$work/projects"/*/runs 2>/dev/null | sed "s/^$session//" | tr '\n' ',' ; }
ran() { [ "$(runs)" = "$1" ]; }

# ---- Up.
check 'the image is built' build
quietly compose up -d peers
check 'the stand-ins are up' until_true 30 peers_are_up
check 'docker compose up --wait: Redis, bridge and standby' up
check 'all three are healthy' all_healthy
check 'Redis asks for a password' sh -c 'printf %s "$0" | grep -q NOAUTH' "$(compose exec -T redis redis-cli ping 2>&1)"
check 'one image is built, for both' [ "$(image_of bridge)" = "$(image_of standby)" ]
published() { compose ps --format '{{.Service}} {{.Ports}}' | grep -e '->' | sed 's/:[0-9]*->/:->/' | paste -sd,; }
check 'the health of the bridge is published on loopback, and nothing else' [ "$(published)" = 'bridge 127.0.0.1:->8787/tcp' ]
readyz() { # bash's own connection: nothing else need be installed
  local answer port
  port=$(compose port bridge 8787) && exec 3<>"/dev/tcp/127.0.0.1/${port##*:}" || return 1
  printf 'GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3 && read -r -t 10 -u 3 answer
  exec 3>&-
  [[ $answer == *' 200 '* ]]
}
check 'it is answered there' readyz
check 'Redis keeps its data in its volume' compose exec -T redis test -d /data/appendonlydir
check 'doctor finds no fault' doctor_is_green
check 'a message in the chat' say 71 'hello there'
check 'is answered' until_true 30 answered 'it heard: hello there'

# ---- What an agent gets, and, to show that there is something to get, what the bridge's user gets.
check 'a message that lets the agent look around' say 71 'look around'
check 'is answered' until_true 60 answered 'it looked around'
sed 's/^/        /' "$work/projects/text/probed"
got() { sed -n 's/^got  *//p' "$1" | paste -sd,; }
check 'the agent is the user 1000' grep -q '^uid=1000(node) gid=1000(node)' "$work/projects/text/probed"
check 'it gets its project, its home and a place for temporary files, and nothing else' \
  [ "$(got "$work/projects/text/probed")" = 'write in the project,write in the home,write temporary files' ]
compose exec -T --user watchkeeper bridge /projects/text/probe >"$work/probed" 2>&1
check "the bridge's user gets at its own" [ "$(grep -cE '^got +(signal|read the|read a|use Redis|write a log|write critical)' "$work/probed")" = 8 ]

# ---- Without a bridge.
check 'docker kill, which the engine takes for a stop' quietly docker kill "$(container bridge)"
check 'within two minutes the standby is unhealthy' until_true 120 health standby unhealthy
is_told_gone() { events | grep -q '"bridge_gone"'; }
check 'it writes bridge_gone' until_true 90 is_told_gone
check 'nobody started the bridge again' [ "$(state bridge '{{.State.Status}}')" = exited ]
doctor_sees_no_bridge() { ! doctor standby && grep -q '^FAULT  *bridge: no bridge is running' "$work/doctor.log"; }
check 'doctor calls it a fault' doctor_sees_no_bridge
grep -A1 '^FAULT' "$work/doctor.log" | sed 's/^/        /'
# Without --wait, which gives up at a standby that is still unhealthy.
check 'docker compose up brings the bridge back' quietly compose up -d $parts
check 'all three are healthy' until_true 90 all_healthy
check 'doctor finds no fault' doctor_is_green
acts_again() { compose exec -T bridge tail -n 40 /data/logs/watchdog.log | grep -F -e 'this one observes' -e 'this watchdog acts now' | tail -1 | grep -q observes; }
check 'the standby gives the watch back to it' until_true 20 acts_again

# ---- Stopped with a busy agent.
no_event() { compose exec -T standby test -d /data/logs && ! events | grep -qF "$session"; }
check 'a message for a long work' say 71 'long work, please'
check 'is worked on' until_true 30 ran ' 1,'
before=$SECONDS
check 'docker compose stop' quietly compose stop $parts
check 'it took less than the stop_grace_period' [ $((SECONDS - before)) -lt 75 ]
check 'the bridge ended by itself' [ "$(state bridge '{{.State.ExitCode}}')" = 0 ]
check 'the chat was told nothing but that it began' [ "$(answers '')" = 1 ]
check 'docker compose up' up
check 'the message went on and was answered' until_true 60 answered 'it went on'
check 'no attempt was used' ran ' 1, 1,'
check 'no event was written' no_event

# ---- Killed with a busy agent.
has_called() { compose exec -T standby grep -qs pre_tool_use "/data/logs/sessions/$session/tool_use.jsonl"; }
check 'a message for a long work' say 72 'long work, please'
check 'its agent made its first call' until_true 30 has_called
check 'docker compose kill' quietly compose kill $parts
check 'docker compose up' up
check 'the message was revived and answered' until_true 120 answered 'it tried again'
check 'in its second attempt' ran ' 1,_r1 2,'
is_filed() { grep '"path":"/repos/example/website/issues"' "$work/peers/github.jsonl" | grep '"status":201' | grep -q "$session"; }
check 'an issue tells of it' until_true 30 is_filed

# ---- The bridge's process killed, as for want of memory.
end_process() { compose exec -T --user root bridge sh -c 'for process in /proc/[0-9]*; do grep -qsa cli/main.js "$process/cmdline" && kill -KILL "${process#/proc/}"; done; :'; }
is_back() { [ "$(state bridge '{{.RestartCount}}')" = 1 ] && health bridge healthy; }
check 'a message for a long work' say 72 'more long work, please'
check 'its agent made its first call' until_true 30 has_called
quietly end_process
check 'the engine starts it again' until_true 60 is_back
check 'the message was revived and answered' until_true 120 answered 'it tried again'
check 'in its second attempt' ran ' 1,_r1 2,'
check 'all three are healthy' all_healthy
check 'doctor finds no fault' doctor_is_green
check 'each message was answered once' [ "$(grep '"who":"bot","what":"message"' "$seen" | grep -cE '"text":"it (heard|looked|went|tried)')" = 5 ]

# ---- Agents become another user, and the projects' volume with them.
owner() { compose exec -T bridge stat -c %u "$1"; }
compose down >/dev/null 2>&1
# The terminal is the chat: the stand-ins are down, too.
sed -i '/^PROJECTS_FOLDER\|^WATCHKEEPER_CONFIG\|^TELEGRAM\|^GITHUB/d' "$work/env"
check 'up without a projects folder, as user 1000' up
check 'the home is theirs' [ "$(owner /home/node)" = 1000 ]
check 'and has files of theirs, as the projects have' quietly compose exec -T --user node bridge sh -c 'git init /projects && touch /home/node/mine'
printf 'AGENT_UID=1234\nAGENT_GID=1234\n' >>"$work/env"
check 'the image is built for user 1234' build
check 'docker compose up' up
check 'the home is theirs again' [ "$(owner /home/node)" = 1234 ]
check 'agents can write there' quietly compose exec -T --user node bridge sh -c 'touch /home/node/mine /home/node/more'
doctor bridge
grep -A1 'directory of local' "$work/doctor.log" | sed 's/^/        /'
check 'doctor says what to do about the projects' grep -q 'FAULT  *directory of local.*by user 1234' "$work/doctor.log"
check 'what docs/configuration.md says of the volume' quietly compose run --rm --no-deps --entrypoint chown bridge -R node:node /projects
check 'agents can write there, too' quietly compose exec -T --user node bridge touch /projects/mine
doctor bridge
check 'doctor finds no fault in it any more' grep -q '^ok  *directory of local' "$work/doctor.log"

# ---- A configuration with a fault.
echo 'AGENT_CONCURRENCY=many' >>"$work/env"
quietly compose up -d $parts
is_restarting() { [ "$(state bridge '{{.RestartCount}}')" -ge 2 ]; }
check 'the engine starts the bridge again and again' until_true 60 is_restarting
check 'its log says what is wrong' sh -c 'printf %s "$0" | grep -q AGENT_CONCURRENCY' "$(compose logs bridge 2>&1)"
check 'and how the doctor can be asked' sh -c 'printf %s "$0" | grep -q "docker compose run --rm bridge doctor"' "$(compose logs bridge 2>&1)"
compose run --rm -T bridge doctor >"$work/doctor.log" 2>&1
check 'who says it, too' grep -q 'AGENT_CONCURRENCY' "$work/doctor.log"
sed -i '/^AGENT_CONCURRENCY/d' "$work/env"
check 'corrected, all come up' up

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
