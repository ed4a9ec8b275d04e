/**
 * Issues as Markdown files, for where there is no GitHub: `{number}.md` with a head of JSON between two `---` lines, and
 * `{number}.comments.md`. People close an issue by changing `state` (and `state_reason`) in its head.
 *
 * A file is there whole or not at all: it is written beside and then moved, so that no outcome is ambiguous.
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

interface Head {
  readonly number: number;
  readonly title: string;
  readonly labels: readonly string[];
  readonly state: 'open' | 'closed';
  /** `completed` or `not_planned`; null while it is open. */
  readonly state_reason: string | null;
  readonly created_at: string;
  readonly closed_at: string | null;
}

interface LocalIssue {
  readonly head: Head;
  readonly body: string;
  /** When the file last changed: when it was closed, if a person did not write that down. */
  readonly changedAt: number;
}

const ISSUE_FILE = /^(\d{1,9})\.md$/;
/** As a server says it. */
const GONE = 410;
const DELIMITER = '---\n';

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
      // The number of a file that a person deleted is given to another one.
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

  /** @returns false where the number is taken */
  private async writeNew(issue: LocalIssue): Promise<boolean> {
    const beside = await this.writeBeside(issue);
    try {
      // Unlike a rename, a link does not replace what another process put there in the meantime.
      await link(beside, this.path(issue.head.number));
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(beside, { force: true });
    }
  }

  private async writeBeside({ head, body }: LocalIssue): Promise<string> {
    const path = join(this.folder, `.${head.number}.${randomBytes(6).toString('hex')}`);
    await writeFile(path, `${DELIMITER}${JSON.stringify(head, null, 2)}\n${DELIMITER}${body}\n`, {
      flush: true,
      mode: PRIVATE_FILE,
    });
    return path;
  }

  private async numbers(): Promise<number[]> {
    try {
      const names = await readdir(this.folder);
      return names.flatMap((name) => ISSUE_FILE.exec(name)?.[1] ?? []).map(Number);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  private async read(number: number): Promise<LocalIssue | null> {
    const path = this.path(number);
    try {
      const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
      return parse(text, path, mtimeMs);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  private path(number: number): string {
    return join(this.folder, `${number}.md`);
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
      // Whoever writes into the folder is trusted.
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

/** A person may have edited it: what is left out of the head is taken for open and ours. */
function parse(text: string, path: string, changedAt: number): LocalIssue {
  const end = text.indexOf(`\n${DELIMITER}`);
  if (!text.startsWith(DELIMITER) || end === -1)
    throw new Error(`${path} does not begin with a head between --- lines`);
  const head = JSON.parse(text.slice(DELIMITER.length, end)) as Partial<Head>;
  const number = Number(ISSUE_FILE.exec(path.slice(path.lastIndexOf('/') + 1))?.[1]);
  return {
    head: {
      number,
      title: head.title ?? '',
      labels: Array.isArray(head.labels) ? head.labels : [WATCHDOG_LABEL],
      state: head.state === 'closed' ? 'closed' : 'open',
      state_reason: typeof head.state_reason === 'string' ? head.state_reason : null,
      created_at: head.created_at ?? '',
      closed_at: typeof head.closed_at === 'string' ? head.closed_at : null,
    },
    body: text.slice(end + 1 + DELIMITER.length).replace(/\n$/, ''),
    changedAt,
  };
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
