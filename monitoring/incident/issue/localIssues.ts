/**
 * Issues as Markdown files, for use without GitHub: `{number}.md` with a head of JSON between two `---` lines, and
 * `{number}.comments.md`. People close an issue by changing `state` (and `state_reason`) in its head.
 *
 * A file is there whole or not at all: it is written under another name and then moved, so that no outcome is ambiguous.
 */
import { randomBytes } from 'node:crypto';
import { link, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeError } from '../../../src/errors.js';
import { appendPrivately, makePrivateFolder, PRIVATE_FILE } from '../../../src/files/privateFiles.js';
import { type Clock, isoTime } from '../../../src/time.js';
import { namedIn } from './issueMarker.js';
import { type IssueSink, type IssueSummary, SinkError, twinComment, WATCHDOG_LABEL } from './issueSink.js';
import { issueFileName, issueFileText, issueNumber, type LocalIssue, parseIssueFile } from './localIssueFile.js';

/** As a server would answer. */
const GONE = 410;

export class LocalIssues implements IssueSink {
  private readonly folder: string;
  private readonly clock: Clock;

  /** @param folder made at the first issue, for example `logs/issues` */
  constructor(folder: string, clock: Clock) {
    this.folder = folder;
    this.clock = clock;
  }

  async visibility(): Promise<'public' | 'private'> {
    return 'private';
  }

  async list(state: 'open' | 'all'): Promise<IssueSummary[]> {
    return this.guarded(async () => {
      const found: IssueSummary[] = [];
      for (const number of (await this.numbers()).sort((a, b) => b - a)) {
        const issue = await this.read(number);
        if (issue === null || !issue.head.labels.includes(WATCHDOG_LABEL)) continue;
        if (state === 'all' || issue.head.state === 'open') found.push(this.summaryOf(issue));
      }
      return found;
    });
  }

  async get(number: number): Promise<IssueSummary | null> {
    return this.guarded(async () => {
      const issue = await this.read(number);
      return issue === null ? null : this.summaryOf(issue);
    });
  }

  async create(title: string, body: string): Promise<IssueSummary> {
    return this.guarded(async () => {
      await makePrivateFolder(this.folder);
      const created_at = isoTime(this.clock.now());
      const fields = {
        title,
        labels: [WATCHDOG_LABEL],
        state: 'open',
        state_reason: null,
        created_at,
        closed_at: null,
      } as const;
      for (let number = Math.max(0, ...(await this.numbers())) + 1; ; number += 1) {
        const issue = { head: { number, ...fields }, body, changedAt: this.clock.now() };
        if (await this.writeNew(issue)) return this.summaryOf(issue);
      }
    });
  }

  async update(number: number, body: string): Promise<void> {
    await this.change(number, (issue) => {
      // After a person deleted a file, its number is reused for another issue.
      const [written, wanted] = [namedIn(issue.body), namedIn(body)];
      if (written !== null && wanted !== null && written !== wanted) throw this.absent(number);
      return { ...issue, body };
    });
  }

  async comment(number: number, body: string): Promise<void> {
    await this.guarded(async () => {
      await this.existing(number);
      const text = `## ${isoTime(this.clock.now())}\n\n${body}\n\n`;
      appendPrivately(join(this.folder, `${number}.comments.md`), text);
    });
  }

  async close(number: number): Promise<void> {
    await this.closeAs(number, 'completed');
  }

  async reopen(number: number): Promise<void> {
    await this.change(number, ({ head, ...rest }) => ({
      ...rest,
      head: { ...head, state: 'open', state_reason: null, closed_at: null },
    }));
  }

  async closeTwin(number: number, keptNumber: number): Promise<void> {
    await this.closeAs(number, 'not_planned');
    await this.comment(number, twinComment(keptNumber));
  }

  private async closeAs(number: number, state_reason: 'completed' | 'not_planned'): Promise<void> {
    const closed_at = isoTime(this.clock.now());
    await this.change(number, ({ head, ...rest }) => ({
      ...rest,
      head: { ...head, state: 'closed', state_reason, closed_at },
    }));
  }

  private async change(number: number, edit: (issue: LocalIssue) => LocalIssue): Promise<void> {
    await this.guarded(async () => {
      const changed = edit(await this.existing(number));
      const beside = await this.writeBeside(changed);
      await rename(beside, this.path(number));
    });
  }

  private async existing(number: number): Promise<LocalIssue> {
    const issue = await this.read(number);
    if (issue === null) throw this.absent(number);
    return issue;
  }

  private absent(number: number): SinkError {
    return new SinkError('refused', `The issue ${number} is no longer in ${this.folder}`, { status: GONE });
  }

  /** @returns false if the number is taken */
  private async writeNew(issue: LocalIssue): Promise<boolean> {
    const beside = await this.writeBeside(issue);
    try {
      // Unlike a rename, a link never replaces another process's file.
      await link(beside, this.path(issue.head.number));
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(beside, { force: true });
    }
  }

  private async writeBeside(issue: LocalIssue): Promise<string> {
    const path = join(this.folder, `.${issue.head.number}.${randomBytes(6).toString('hex')}`);
    await writeFile(path, issueFileText(issue), { flush: true, mode: PRIVATE_FILE });
    return path;
  }

  private async numbers(): Promise<number[]> {
    try {
      const names = await readdir(this.folder);
      return names.map(issueNumber).filter((number) => number !== null);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  private async read(number: number): Promise<LocalIssue | null> {
    const path = this.path(number);
    try {
      const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
      return parseIssueFile(text, path, number, mtimeMs);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  private path(number: number): string {
    return join(this.folder, issueFileName(number));
  }

  private summaryOf({ head, body, changedAt }: LocalIssue): IssueSummary {
    const closed = head.state === 'closed';
    const wanted = head.state_reason === null || head.state_reason === 'completed';
    return {
      number: head.number,
      url: pathToFileURL(this.path(head.number)).href,
      state: head.state,
      closedAs: closed ? (wanted ? 'completed' : 'not_planned') : null,
      closedAt: closed ? Date.parse(head.closed_at ?? '') || changedAt : null,
      body,
      // Everyone who can write to the folder is trusted.
      isOwn: true,
    };
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SinkError) throw error;
      throw new SinkError(
        'not_reached',
        `The folder of issues ${this.folder} cannot be used (${describeError(error)})`,
        {
          cause: error,
        },
      );
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
