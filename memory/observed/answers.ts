/** Exit codes that are a command's answer, and no failure: nothing found, files differ, a refusal of ours. */
import { commandsIn } from './commandParts.js';

/** Programs that answer by their exit code, by their first words, and the codes. */
const ASKING: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^(?:[efz]?grep|rg|ag|ack|pgrep|diff|cmp|test|\[\[?|which|type|command -v|expr)(?:\s|$)/, [1]],
  [
    /^git (?:-[Cc] \S+ |-(?![Cc] )\S+ )*(?:diff(?:-\w+)? .*--(?:exit-code|quiet)|grep|merge-base .*--is-ancestor|check-ignore|show-ref .*--verify)\b/,
    [1],
  ],
  [/^gh pr checks\b/, [1, 8]],
  [
    /^(?:npx |pnpm |yarn |uvx )?(?:prettier|biome|black|ruff|isort|gofmt|rustfmt|cargo fmt|shfmt|clang-format|stylua|dprint|deno fmt|mix format|terraform fmt|nixfmt)\b.*\s(?:--check|--diff|-l|-d|-c|--list-different|--dry-run|-check)\b/,
    [1],
  ],
  [/^(?:\S+ )?(?:watchkeeper|session-tracker)\b/, [1, 2]],
];
/** A chain of commands cannot fail because of them. */
const PRELUDES = /^(?:cd|pushd|popd|export|set|source|\.|echo|true|:|sleep)(?:\s|$)|^\w+=\S*$/;
const WRAPPERS = /^(?:(?:sudo|time|env|nice|command)\s+|\w+=\S*\s+|(?:[\w.-]*\/)+(?=\S))/;
const EXIT_CODE = /^(?:Error: )?(?:Exit code:?|Process exited with code) (\d{1,3})\b/i;

/**
 * @param command as it was given to a shell
 * @param output of it, with its exit code in front
 * @returns whether the exit code is what the command had to say
 */
export function isAnswer(command: string, output: string): boolean {
  const [, code] = EXIT_CODE.exec(output.trimStart()) ?? [];
  if (code === undefined) return false;
  const chain = lastChain(command);
  const isInnocent = (each: string, index: number) =>
    (index < chain.length - 1 && PRELUDES.test(each)) || asks(each, Number(code));
  return chain.length > 0 && chain.every(isInnocent);
}

function asks(command: string, code: number): boolean {
  let bare = command;
  while (WRAPPERS.test(bare) && !/^command -v/.test(bare)) bare = bare.replace(WRAPPERS, '');
  return ASKING.some(([program, codes]) => codes.includes(code) && program.test(bare));
}

/** @returns the last commands that are joined by `&&`: one of them has ended with the exit code. Of a pipe, only its last command */
function lastChain(command: string): string[] {
  let chain: string[] = [];
  const parts = commandsIn(command);
  for (const [index, { text, joint }] of parts.entries()) {
    const isLast = index === parts.length - 1;
    if (joint === '&&' || isLast) chain.push(text);
    if (!isLast && joint !== '&&' && joint !== '|') chain = [];
  }
  return chain;
}
