/**
 * The one way in which Redis is changed: a commit is a list of checks and a list of writes; the writes happen together,
 * and only if every check holds at that instant. Redis' own MULTI is unconditional, and a script per transition would put
 * the state machine into Lua; so the script is general and the transitions are ordinary TypeScript (`transitions.ts`).
 */
import type { Redis } from 'ioredis';
import { type CommitName, failpoint } from '../failpoints.js';
import { Script } from './script.js';

/** `read` is a command that reads one value; `equals` null means that there is none. */
export interface Check {
  readonly read: readonly [command: string, key: string, ...args: string[]];
  readonly equals: string | null;
}

export type Write = readonly [command: string, key: string, ...args: string[]];

export interface Commit {
  /** What it is for, where tests break off before and after it. */
  readonly at?: CommitName | undefined;
  /**
   * That it takes in work that nobody has promised yet: a Redis that is full refuses it. All others use what memory is
   * left beyond `maxmemory`, for what was accepted has to come to its end, and by that gives room.
   */
  readonly addsWork?: true;
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
}

/*
 * Purpose: apply writes if all checks hold.
 * KEYS: a key that is never there; every key that a check or write names.
 * ARGV: 'full' where a full Redis may not refuse, else ''; number of checks; each check as argc, args…, 'n' (must be absent) or 's' + expected value; each write as argc, args….
 * Returns: 0 when applied, else the number of the first check that failed.
 * A Redis beyond `maxmemory` refuses the first write of a script that takes memory, and none after it. So a deletion of
 * nothing goes before.
 */
const COMMIT_SCRIPT = new Script(`
local at = 1
local function take()
  local value = ARGV[at]
  at = at + 1
  return value
end
local function command()
  local count = tonumber(take())
  local words = {}
  for i = 1, count do words[i] = take() end
  return redis.call(unpack(words))
end
local mayOverfill = take() == 'full'
local checks = tonumber(take())
for number = 1, checks do
  local found = command()
  local expected = take()
  local holds
  if not found then holds = expected == 'n' else holds = expected == 's' .. tostring(found) end
  if not holds then return number end
end
if mayOverfill and at <= #ARGV then redis.call('DEL', KEYS[1]) end
while at <= #ARGV do command() end
return 0
`);

/**
 * @param redis a connection for commands
 * @param commit what must hold, and what then changes
 * @returns whether the writes were applied; false means that somebody else was first: look again
 * @throws ioredis' error where Redis cannot be reached or refuses; nothing was written then, or the answer was lost
 */
export async function applyCommit(redis: Redis, commit: Commit): Promise<boolean> {
  const { at } = commit;
  if (at !== undefined) failpoint(`commit.${at}.before`);
  const applied = await runScript(redis, commit);
  if (at !== undefined) failpoint(`commit.${at}.after`);
  return applied;
}

async function runScript(redis: Redis, commit: Commit): Promise<boolean> {
  const keys = new Set<string>();
  const argv: string[] = [commit.addsWork === true ? '' : 'full', String(commit.checks.length)];
  for (const check of commit.checks) {
    keys.add(check.read[1]);
    argv.push(String(check.read.length), ...check.read, check.equals === null ? 'n' : `s${check.equals}`);
  }
  for (const write of commit.writes) {
    if (write[0] !== 'PUBLISH') keys.add(write[1]);
    argv.push(String(write.length), ...write);
  }
  const [first = ''] = keys;
  // In the same slot as the others.
  const failed = await COMMIT_SCRIPT.run(redis, [`${first}:nothing`, ...keys], argv);
  return Number(failed) === 0;
}

/** A record kept as a hash of `rev` and a JSON `doc`. */
export function documentChecks(key: string, rev: number | null): Check[] {
  return [{ read: ['HGET', key, 'rev'], equals: rev === null ? null : String(rev) }];
}

/** @returns the write that stores a document with its own `rev` */
export function documentWrite(key: string, document: { readonly rev: number }): Write {
  return ['HSET', key, 'rev', String(document.rev), 'doc', JSON.stringify(document)];
}
