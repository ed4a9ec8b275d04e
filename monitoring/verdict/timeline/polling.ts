/**
 * Calls that only check whether something has happened yet. Repeating them is their purpose, so the loop rule leaves them out.
 * (Judgement rules, 15; in recorded healthy runs one poll repeated 53 times, rightly.)
 */
import { DEFAULT_POLLING, type PollingList } from '../../../src/config/polling.js';

/** Keys for the text that is typed into a running command. */
const TEXT_KEYS = ['chars', 'input', 'text'];
/** Codex' code mode: its input is a script, which calls tools as `tools.NAME({…})`. */
const SCRIPT_TOOL = 'exec';
const TOOLS = /\btools\b/g;
const SCRIPTED_CALL = /\btools\.(\w+)\s*\(\s*(\{[^{}]*\})?\s*\)/g;
/** A member that takes a text; the group matches if that text is empty. */
const TEXT_MEMBER = /["']?\b(?:chars|input|text)\b["']?(?:\s*:\s*(""|''|``)\s*(?=[,}]))?/g;

/** @param input as the journal holds it */
export function isPolling(tool: string, input: unknown, list: PollingList = DEFAULT_POLLING): boolean {
  if (list.tools.includes(tool)) return true;
  if (typeof input === 'string') {
    return list.tools_without_text.includes(tool) ? input === '' : isPollingCommand(input, list);
  }
  if (input === null || typeof input !== 'object') return false;
  const members = input as Readonly<Record<string, unknown>>;
  if (members.polling === true) return true;
  if (tool === SCRIPT_TOOL && typeof members.input === 'string') return isPollingScript(members.input, list);
  if (list.tools_without_text.includes(tool)) return TEXT_KEYS.every((key) => (members[key] ?? '') === '');
  return (
    isPollingCommand(members.command, list) ||
    isPollingCommand(members.cmd, list) ||
    isPollingCommand(members.script, list)
  );
}

/** @returns whether the script calls tools, and only to poll */
function isPollingScript(script: string, list: PollingList): boolean {
  const calls = [...script.matchAll(SCRIPTED_CALL)];
  if (calls.length === 0 || calls.length !== script.match(TOOLS)?.length) return false;
  return calls.every(([, tool = '', input = '']) => {
    if (list.tools.includes(tool)) return true;
    const texts = [...input.matchAll(TEXT_MEMBER)];
    return list.tools_without_text.includes(tool) && texts.every(([, empty]) => empty !== undefined);
  });
}

/** @param command the value in the place where known agents' tools take a shell command; missing in most of them */
function isPollingCommand(command: unknown, list: PollingList): boolean {
  /** `["bash", "-lc", "sleep 5"]` has the command line in its last member. */
  const text: unknown =
    Array.isArray(command) && command[0] !== 'sleep' && command[0] !== 'gh' ? command.at(-1) : command;
  /** Anything else that an agent puts into a list has no reliable text, and converting it may throw. */
  const line = Array.isArray(text) ? text.filter((word) => typeof word === 'string').join(' ') : text;
  if (typeof line !== 'string') return false;
  const start = line.trimStart();
  return list.commands.some(
    (beginning) => start.startsWith(beginning) && /^(\s|$)/.test(start.slice(beginning.length)),
  );
}
