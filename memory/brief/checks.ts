/** Which commands checked the work of a session, and how each ended at last. */
import { instantOf } from '../../src/journal/normalise.js';
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { commandPattern, mainCommand } from '../learnings/pattern.js';
import { commandOf } from '../observed/calls.js';
import { commandsIn } from '../observed/commandParts.js';

/** Tests, types, rules and builds, by the first words of a command. */
const CHECKS: readonly RegExp[] = [
  /^(?:npm|pnpm|yarn|bun)(?: run)? (?:[\w:-]*[:-])?(?:tests?|check|lint|build|types?|typecheck|tsc|e2e|unit|verify|ci|coverage)\b/,
  /^(?:(?:npx|bunx|uvx|uv run|poetry run|pnpm exec|pnpm dlx|yarn|bundle exec) )?(?:jest|vitest|mocha|ava|playwright|cypress|karma|tsc|eslint|biome|prettier|knip|pytest|tox|nox|mypy|ruff|flake8|pylint|pyright|black|rspec|rubocop)\b/,
  /^python[\d.]* (?:pytest|unittest|mypy|tox)\b/,
  /^(?:cargo (?:test|check|clippy|build|fmt|nextest)|go (?:test|vet|build)|dotnet (?:test|build)|swift (?:test|build)|mix test|deno (?:test|check|lint)|zig (?:test|build)|rake (?:test|spec))\b/,
  /^(?:make|just|task|ninja|cmake) (?:[\w-]*-)?(?:tests?|check|lint|build|ci|verify)\b/,
  /^(?:gradle|gradlew|mvn|mvnw|sbt|bazel|ctest|phpunit|shellcheck|hadolint|golangci-lint)\b/,
  // A script of its own.
  /^(?:[\w-]+[._-])?tests?(?:\.sh|\.py|\.js|\.ts)?(?:\s|$)/,
];
const NODES_OWN = /^node\b.*\s--test\b/;
/** The shell fails with the first command of a pipe, too. */
const PIPES_FAIL = /\bset -\w*o pipefail\b/;
/** The program let it run on, and did not wait for its end. */
export const RUNS_ON = /^(?:Command (?:running|was moved) |Process running with session ID )/;

export interface Check {
  /** As it was run last, redacted. */
  readonly command: string;
  /** `unclear`: its exit code was hidden by another command, or it was not waited for. */
  readonly ended: 'passed' | 'failed' | 'unclear';
  /** UTC epoch milliseconds. */
  readonly at: number;
  /** Whether a file was changed since. */
  readonly isOld: boolean;
}

interface Called {
  readonly commands: readonly { readonly text: string; readonly isSure: boolean }[];
}

export class Checks {
  readonly #calls = new Map<string, Called>();
  readonly #last = new Map<string, Omit<Check, 'isOld'>>();
  readonly #isOwn: (path: string) => boolean;
  #changed = Number.NEGATIVE_INFINITY;

  /** @param isOwn whether a file belongs to the work: those of others make no check old */
  constructor(isOwn: (path: string) => boolean) {
    this.#isOwn = isOwn;
  }

  /** In the order in which they were run last. */
  get list(): Check[] {
    return [...this.#last.values()].map((check) => ({ ...check, isOld: check.at < this.#changed }));
  }

  take(record: JournalRecord): void {
    const at = instantOf(record.timestamp);
    if (at === null) return;
    const id = textOf(record.tool_use_id) ?? '';
    switch (record.event) {
      case 'pre_tool_use': {
        const commands = checksIn(commandOf(record.tool_input) ?? '');
        if (commands.length > 0) this.#calls.set(id, { commands });
        break;
      }
      case 'post_tool_use':
        this.#end(record, this.#calls.get(id), at);
        break;
      case 'files':
        // A file that a check writes, such as a report, does not make it old.
        if (!this.#calls.has(id) && changedIn(record).some(this.#isOwn)) this.#changed = at;
        break;
    }
  }

  #end(record: JournalRecord, call: Called | undefined, at: number): void {
    const outcome = textOf(record.outcome) ?? (record.is_error === true ? 'failed' : 'ok');
    // A call that was refused or stopped checked nothing.
    if (call === undefined || (outcome !== 'ok' && outcome !== 'failed')) return;
    const runsOn = RUNS_ON.test(textOf(record.tool_output_preview) ?? '');
    for (const { text, isSure } of call.commands) {
      const isFault = outcome === 'failed';
      // In a chain, another command may have failed.
      const isClear = isSure && !runsOn && !(isFault && call.commands.length > 1);
      const key = commandPattern(text);
      this.#last.delete(key);
      this.#last.set(key, {
        command: mainCommand(text),
        ended: isClear ? (isFault ? 'failed' : 'passed') : 'unclear',
        at,
      });
    }
  }
}

/** @returns the commands that check something, and whether the exit code of all is theirs */
function checksIn(command: string): Called['commands'] {
  const parts = commandsIn(command);
  const mayPipe = PIPES_FAIL.test(command);
  return parts.flatMap(({ text }, index) => {
    if (!isCheck(text)) return [];
    const rest = parts.slice(index);
    const isSure = rest.every(
      ({ joint }, at) =>
        joint === '&&' || joint === '' || (mayPipe && joint === '|') || (at === rest.length - 1 && /[;\n]/.test(joint)),
    );
    return [{ text, isSure }];
  });
}

function isCheck(text: string): boolean {
  const pattern = commandPattern(text);
  return CHECKS.some((check) => check.test(pattern)) || NODES_OWN.test(mainCommand(text));
}

function changedIn(record: JournalRecord): string[] {
  const { created, modified, deleted, changed } = record;
  return [created, modified, deleted, changed].flatMap((paths) => (Array.isArray(paths) ? paths.map(String) : []));
}
