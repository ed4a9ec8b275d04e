/**
 * Issues as Markdown files, for use without GitHub: `{number}.md` with a head of JSON between two `---` lines, and
 * `{number}.comments.md`. People close an issue by changing `state` (and `state_reason`) in its head.
 *
 * A file is there whole or not at all: it is written under another name and then moved, so that no outcome is ambiguous.
 */
import { randomBytes } from 'node:crypto';
import { link, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { describeError, errorCode, nullIfAbsent } from '../../../src/errors.js';
import { replaceDurably } from '../../../src/files/durableFile.js';
import { appendPrivately, makePrivateFolder, PRIVATE_FILE } from '../../../src/files/privateFiles.js';
import { type Clock, isoTime } from '../../../src/time.js';
import { namedIn } from './issueMarker.js';
import { type IssueSink, type IssueSummary, SinkError, WATCHDOG_LABEL } from './issueSink.js';

/** The head of an issue's file. A person may have edited it: without the field, an issue counts as open and ours. */
const HEAD = z.object({
  title: z.string().catch(''),
  labels: z.array(z.string()).catch([WATCHDOG_LABEL]),
  state: z.enum(['open', 'closed']).catch('open'),
  /** `completed` or `not_planned`; null while it is open. */
  state_reason: z.string().nullable().catch(null),
  created_at: z.string().catch(''),
  closed_at: z.string().nullable().catch(null),
});
type Head = { readonly number: number } & Readonly<z.infer<typeof HEAD>>;

interface LocalIssue {
  readonly head: Head;
  readonly body: string;
  /** When the file last changed; also the time of closing, if a person did not write that down. */
  readonly changedAt: number;
}

const ISSUE_FILE = /^(\d{1,9})\.md$/;
const DELIMITER = '---\n';
/** As a server would answer. */
const GONE = 410;

export class LocalIssues implements IssueSink {
  readonly #folder: string;
  readonly #clock: Clock;

  /** @param folder made at the first issue, for example `logs/issues` */
  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  async visibility(): Promise<'public' | 'private'> {
    return 'private';
  }

  async list(): Promise<IssueSummary[]> {
    return this.#guarded(async () => {
      const found: IssueSummary[] = [];
      for (const number of (await this.#numbers()).sort((a, b) => b - a)) {
        const issue = await this.#read(number);
        if (issue?.head.labels.includes(WATCHDOG_LABEL)) found.push(this.#summaryOf(issue));
      }
      return found;
    });
  }

  async get(number: number): Promise<IssueSummary | null> {
    return this.#guarded(async () => {
      const issue = await this.#read(number);
      return issue === null ? null : this.#summaryOf(issue);
    });
  }

  async create(title: string, body: string): Promise<IssueSummary> {
    return this.#guarded(async () => {
      await makePrivateFolder(this.#folder);
      const changedAt = this.#clock.now();
      const state = { state: 'open', state_reason: null } as const;
      const fields = { title, labels: [WATCHDOG_LABEL], ...state, created_at: isoTime(changedAt), closed_at: null };
      for (let number = Math.max(0, ...(await this.#numbers())) + 1; ; number += 1) {
        const issue = { head: { number, ...fields }, body, changedAt };
        if (await this.#writeNew(issue)) return this.#summaryOf(issue);
      }
    });
  }

  async update(number: number, body: string, title?: string): Promise<void> {
    await this.#change(number, (issue) => {
      // After a person deleted a file, its number is reused for another issue.
      const [written, wanted] = [namedIn(issue.body), namedIn(body)];
      if (written !== null && wanted !== null && written !== wanted) throw this.#absent(number);
      return { ...issue, head: { ...issue.head, ...(title !== undefined && { title }) }, body };
    });
  }

  async comment(number: number, body: string): Promise<void> {
    await this.#guarded(async () => {
      await this.#existing(number);
      const text = `## ${isoTime(this.#clock.now())}\n\n${body}\n\n`;
      appendPrivately(join(this.#folder, `${number}.comments.md`), text);
    });
  }

  async close(number: number, as: 'completed' | 'not_planned'): Promise<void> {
    await this.#changeHead(number, { state: 'closed', state_reason: as, closed_at: isoTime(this.#clock.now()) });
  }

  async reopen(number: number): Promise<void> {
    await this.#changeHead(number, { state: 'open', state_reason: null, closed_at: null });
  }

  async #changeHead(number: number, change: Partial<Head>): Promise<void> {
    await this.#change(number, (issue) => ({ ...issue, head: { ...issue.head, ...change } }));
  }

  async #change(number: number, edit: (issue: LocalIssue) => LocalIssue): Promise<void> {
    await this.#guarded(async () => {
      const changed = edit(await this.#existing(number));
      await replaceDurably(this.#path(number), issueFileText(changed));
    });
  }

  async #existing(number: number): Promise<LocalIssue> {
    const issue = await this.#read(number);
    if (issue === null) throw this.#absent(number);
    return issue;
  }

  #absent(number: number): SinkError {
    return new SinkError('refused', `The issue ${number} is no longer in ${this.#folder}`, { status: GONE });
  }

  async #writeNew(issue: LocalIssue): Promise<boolean> {
    const temporary = join(this.#folder, `.${issue.head.number}.${randomBytes(6).toString('hex')}`);
    await writeFile(temporary, issueFileText(issue), { flush: true, mode: PRIVATE_FILE });
    try {
      // Unlike a rename, a link never replaces another process's file.
      await link(temporary, this.#path(issue.head.number));
      return true;
    } catch (error) {
      if (errorCode(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  async #numbers(): Promise<number[]> {
    const names = (await readdir(this.#folder).catch(nullIfAbsent)) ?? [];
    const numbers = names.map((name) => ISSUE_FILE.exec(name)?.[1]);
    return numbers.filter((number) => number !== undefined).map(Number);
  }

  async #read(number: number): Promise<LocalIssue | null> {
    const path = this.#path(number);
    const found = await Promise.all([readFile(path, 'utf8'), stat(path)]).catch(nullIfAbsent);
    return found === null ? null : parseIssueFile(found[0], path, number, found[1].mtimeMs);
  }

  #path(number: number): string {
    return join(this.#folder, `${number}.md`);
  }

  #summaryOf({ head, body, changedAt }: LocalIssue): IssueSummary {
    const closed = head.state === 'closed';
    const wanted = head.state_reason === null || head.state_reason === 'completed';
    return {
      number: head.number,
      url: pathToFileURL(this.#path(head.number)).href,
      state: head.state,
      closedAs: closed ? (wanted ? 'completed' : 'not_planned') : null,
      closedAt: closed ? Date.parse(head.closed_at ?? '') || changedAt : null,
      title: head.title,
      body,
      // Everyone who can write to the folder is trusted.
      isOwn: true,
    };
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SinkError) throw error;
      const said = `The folder of issues ${this.#folder} cannot be used (${describeError(error)})`;
      throw new SinkError('not_reached', said, { cause: error });
    }
  }
}

function issueFileText({ head, body }: LocalIssue): string {
  return `${DELIMITER}${JSON.stringify(head, null, 2)}\n${DELIMITER}${body}\n`;
}

function parseIssueFile(text: string, path: string, number: number, changedAt: number): LocalIssue {
  const end = text.indexOf(`\n${DELIMITER}`);
  if (!text.startsWith(DELIMITER) || end === -1)
    throw new Error(`${path} does not begin with a head between --- lines`);
  const head = { number, ...HEAD.parse(JSON.parse(text.slice(DELIMITER.length, end))) };
  return { head, body: text.slice(end + 1 + DELIMITER.length).replace(/\n$/, ''), changedAt };
}
