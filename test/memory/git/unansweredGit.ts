/** A git that never answers some questions, and notes all. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathWith } from '../../harness/searchPath.js';

/** The plain words of a call are those without what differs from scene to scene: paths and objects. */
export class UnansweredGit {
  /** Comes before all else in `PATH`. */
  readonly folder: string;
  readonly #calls: string;

  /**
   * @param folder is made
   * @param questions the plain words of calls, or `all`
   */
  constructor(folder: string, questions: readonly string[] | 'all') {
    this.folder = folder;
    this.#calls = join(folder, 'calls');
    mkdirSync(folder, { recursive: true });
    writeFileSync(this.#calls, '');
    const unanswered = questions === 'all' ? '*' : `*"|$words|"*`;
    const listed = questions === 'all' ? '' : questions.map((question) => `|${question}|`).join('');
    const program = join(folder, 'git');
    writeFileSync(
      program,
      `#!/bin/sh
words=
for word in "$@"; do
  case $word in
    */*) word=\${word%%/*} ;;
    *) [ \${#word} = 40 ] && word=OBJECT ;;
  esac
  words="$words $word"
done
printf '%s\\n' "$words" >> '${this.#calls}'
case '${listed}' in ${unanswered}) exit 128;; esac
exec '${join(pathWith('git'), 'git')}' "$@"
`,
    );
    chmodSync(program, 0o755);
  }

  /** The plain words of all calls. */
  get questions(): Set<string> {
    return new Set(readFileSync(this.#calls, 'utf8').split('\n').filter(Boolean));
  }
}

/** Calls `act` with a git that answers all, and then for each of its questions with one that does not answer it. */
export async function withoutEach(act: (unanswered: readonly string[]) => Promise<UnansweredGit>): Promise<void> {
  const { questions } = await act([]);
  if (questions.size === 0) throw new Error('git was asked nothing');
  for (const question of questions)
    await act([question]).catch((error: unknown) => {
      throw new Error(`without an answer to ${question}: ${error}`);
    });
}
