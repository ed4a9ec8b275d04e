/**
 * The one way to change Redis. A commit is a list of checks, a list of writes, and optionally reads; writes and reads happen
 * together, and only if every check holds at that instant. Redis' own MULTI is unconditional, and a script per transition would
 * put the state machine into Lua. So the script is general, and the transitions are ordinary TypeScript (`transitions.ts`).
 */
import type { Redis } from 'ioredis';
import { type CommitName, failpoint } from '../failpoints.js';
import { Script } from './script.js';

/** `read` is a command that reads one value; a null `equals` means that there is none. */
export interface Check {
  readonly read: readonly [command: string, key: string, ...args: string[]];
  readonly equals: string | null;
}

type Command = readonly [command: string, key: string, ...args: string[]];

/** The fields of one message on a channel; two messages with the same fields are sent as one. */
export type Message = Readonly<Record<string, string | true | undefined>>;

export type Write = Command | { readonly channel: string; readonly wake: Message };

export interface CheckedWrites {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

export interface Commit extends CheckedWrites {
  /** Its name, for tests that crash before or after it. */
  readonly at?: CommitName | undefined;
  /** A full Redis refuses new work. Other commits may use the memory beyond `maxmemory`: finishing work frees it. */
  readonly addsWork?: true;
  /** Commands that read one value each, after the writes. */
  readonly reads?: readonly Command[];
}

/*
 * Purpose: apply writes if all checks hold.
 * KEYS: one of the commit's keys followed by ':nothing'; all are in the same slot.
 * ARGV: the commit as JSON, in one piece, because each further argument costs client and server more than its bytes:
 *   {fills: whether a full Redis may not refuse, checks: [[COMMAND, expected value or null], …], writes: [COMMAND, …],
 *   reads: [COMMAND, …]}, each COMMAND an array of texts.
 * Returns: if applied, the values read, in order; otherwise the number of the first check that failed.
 * A Redis beyond `maxmemory` refuses only a script's first write, if that takes memory. So a deletion of nothing comes first.
 */
const COMMIT_SCRIPT = new Script(`
local commit = cjson.decode(ARGV[1])
for number, check in ipairs(commit.checks) do
  local found = redis.call(unpack(check[1]))
  local holds
  if not found then holds = check[2] == cjson.null else holds = check[2] == tostring(found) end
  if not holds then return number end
end
if commit.fills and #commit.writes > 0 then redis.call('DEL', KEYS[1]) end
for _, write in ipairs(commit.writes) do redis.call(unpack(write)) end
local found = {}
for number, read in ipairs(commit.reads) do found[number] = redis.call(unpack(read)) end
return found
`);

/** @returns false if another process was first @throws ioredis' error: nothing was written, or the reply was lost */
export async function applyCommit(redis: Redis, commit: Commit): Promise<boolean> {
  return (await applyAndRead(redis, commit)) !== null;
}

/** As {@link applyCommit}. @returns the results of the commit's reads; null if the writes were not applied */
export async function applyAndRead(redis: Redis, commit: Commit): Promise<readonly (string | null)[] | null> {
  const { at } = commit;
  if (at !== undefined) failpoint(`commit.${at}.before`);
  const found = await runScript(redis, commit);
  if (at !== undefined) failpoint(`commit.${at}.after`);
  return Array.isArray(found) ? found : null;
}

function runScript(redis: Redis, { checks, writes, reads = [], addsWork }: Commit): Promise<unknown> {
  const commands = commandsOf(writes);
  const first = checks[0]?.read[1] ?? commands.find(([command]) => command !== 'PUBLISH')?.[1] ?? '';
  const commit = {
    fills: addsWork !== true,
    checks: checks.map(({ read, equals }) => [read, equals]),
    writes: commands,
    reads,
  };
  return COMMIT_SCRIPT.run(redis, [`${first}:nothing`], [wellFormedJson(commit)]);
}

/** Half of a surrogate pair becomes a JSON escape that is not a character, which Redis' JSON refuses. */
function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(value, (_, part) => (typeof part === 'string' ? Buffer.from(part).toString() : part));
}

/** Combines messages as far as possible: every listener of every process reads each one. */
function commandsOf(writes: readonly Write[]): readonly Command[] {
  const commands: Command[] = [];
  const messages: { channel: string; wake: Message }[] = [];
  for (const write of writes) {
    if (!('wake' in write)) {
      commands.push(write);
      continue;
    }
    const last = messages.at(-1);
    if (last !== undefined && last.channel === write.channel && agree(last.wake, write.wake)) {
      last.wake = { ...last.wake, ...write.wake };
    } else messages.push({ ...write });
  }
  for (const { channel, wake } of messages) commands.push(['PUBLISH', channel, JSON.stringify(wake)]);
  return commands;
}

function agree(one: Message, other: Message): boolean {
  return Object.keys(other).every((name) => one[name] === undefined || one[name] === other[name]);
}

/** A record kept as a hash of `rev` and a JSON `doc`. */
export function documentChecks(key: string, rev: number | null): Check[] {
  return [{ read: ['HGET', key, 'rev'], equals: rev === null ? null : String(rev) }];
}

export function documentWrite(key: string, document: { readonly rev: number }): Write {
  return ['HSET', key, 'rev', String(document.rev), 'doc', JSON.stringify(document)];
}
