/** A session's record for others: one JSON with all of it, or the files of an older tracker in a folder. */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { replaceInFolderSync } from '../../src/files/durableFile.js';
import { readOwnFileSync } from '../../src/files/ownFile.js';
import { READ_NO_LINK, readPlainFileSync, withFileSync } from '../../src/files/plainFile.js';
import { makePrivateFolderSync } from '../../src/files/privateFiles.js';
import { seenEntry } from '../../src/files/seenFile.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import { parseObject } from '../../src/json.js';
import { worklogKind } from '../fold/rules/kind.js';
import { journalIn, worklogIn } from '../home/places.js';
import { generate } from '../keeping/generate.js';
import type { Line } from '../logs/line.js';
import { LARGEST_LOG_BYTES, sizeOfLog } from '../logs/logFile.js';
import { LogReader } from '../logs/reader.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';

const LARGEST_MANIFEST_BYTES = 16 * 1024 * 1024;
const LONGEST_NAME = 64;
const DIGEST_LENGTH = 8;
/** The beginning of a name that is too long. */
const BEGINNING = /^.{0,64}/;
/** In the folder of an export: the list of the files that it has made, so that no other one is overwritten. */
const MANIFEST = '.watchkeeper-export.json';

interface Manifest {
  readonly session_id: string;
  /** By path, the SHA-256 of the written text, and of the text that is being written. */
  readonly files: Readonly<Record<string, readonly string[]>>;
}

/** Paths relative to the folder, and texts. */
export type ExportFiles = Readonly<Record<string, string>>;

/** @returns the logs as they are, the state and the Markdown. The state can be folded again from the logs */
export async function exportOf(memory: Viewer, session: OpenSession) {
  const { id, folder } = session;
  const { state, text } = await generate(memory, session);
  const journal = journalIn(folder);
  return {
    v: 1,
    session_id: id,
    logs: {
      'worklog.jsonl': textOf(worklogIn(folder), LARGEST_LOG_BYTES),
      ...(existsSync(journal) && { 'tool_use.jsonl': textOf(journal, LARGEST_LOG_BYTES) }),
    },
    state,
    markdown: text,
  };
}

/** @throws UnreachableError for anything but a plain file of at most so many bytes */
function textOf(path: string, largestBytes: number, read: typeof readOwnFileSync = readOwnFileSync): string {
  try {
    return read(path, largestBytes);
  } catch (cause) {
    if (cause instanceof UnreachableError) throw cause;
    throw new UnreachableError(`${path} cannot be read: ${describeStorageFault(cause)}`, { cause });
  }
}

/** @returns the lines of the worklog that were applied, in order */
export function appliedLines({ folder }: OpenSession): Line[] {
  const lines: Line[] = [];
  const path = worklogIn(folder);
  withFileSync(path, READ_NO_LINK, (descriptor) =>
    new LogReader(worklogKind).readOn(descriptor, sizeOfLog(path, descriptor), (line, refusal) => {
      if (refusal === null) lines.push(line);
    }),
  );
  return lines;
}

/**
 * Writes the files of an export, again if they are those of an earlier one of the same session.
 * @param out the folder; created if it is missing
 * @returns the paths of the files
 * @throws UsageError if a file of another origin is in the place of one; then nothing is written
 * @throws UnreachableError if they cannot be written
 */
export function writeExport(out: string, sessionId: string, files: ExportFiles): string[] {
  try {
    makePrivateFolderSync(out);
    const known = manifestOf(out, sessionId);
    const foreign = Object.entries(files).filter(([name, text]) =>
      isForeign(out, name, [...known(name), digestOf(text)]),
    );
    if (foreign.length > 0)
      throw new UsageError(
        `${foreign.map(([name]) => join(out, name)).join(', ')}: made or changed by somebody else, and not overwritten; choose another --out`,
      );
    const digests = Object.entries(files).map(([name, text]) => [name, digestOf(text)] as const);
    const old = Object.keys(known.files).map((name) => [name, known(name)] as const);
    writeManifest(out, sessionId, [
      ...old,
      ...digests.map(([name, digest]) => [name, [...known(name), digest]] as const),
    ]);
    for (const [name, text] of Object.entries(files)) writeBelow(out, name, text);
    for (const [name] of old)
      if (!Object.hasOwn(files, name) && !isForeign(out, name, known(name))) rmSync(join(out, name), { force: true });
    writeManifest(
      out,
      sessionId,
      digests.map(([name, digest]) => [name, [digest]] as const),
    );
    return Object.keys(files).map((name) => join(out, name));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UnreachableError(`${out}: ${describeStorageFault(error)}`, { cause: error });
  }
}

/** @returns a part of a path made of foreign words: no separator, no dot in front, at most 64 letters */
export function safeName(text: string): string {
  const safe = text.replace(/[^A-Za-z0-9_-]+/g, '-');
  if (safe === text && text.length <= LONGEST_NAME) return text;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
  return `${BEGINNING.exec(safe)?.[0] ?? ''}-${digest}`;
}

function manifestOf(out: string, sessionId: string) {
  const path = join(out, MANIFEST);
  const manifest =
    seenEntry(path) === undefined
      ? null
      : parseObject<Manifest>(textOf(path, LARGEST_MANIFEST_BYTES, readPlainFileSync));
  const files = manifest?.session_id === sessionId && typeof manifest.files === 'object' ? manifest.files : {};
  const known = (name: string): readonly string[] => (Array.isArray(files[name]) ? files[name] : []);
  return Object.assign(known, { files });
}

function writeManifest(
  out: string,
  session_id: string,
  files: readonly (readonly [string, readonly string[]])[],
): void {
  const manifest: Manifest = { session_id, files: Object.fromEntries(files) };
  replaceInFolderSync(join(out, MANIFEST), `${JSON.stringify(manifest)}\n`);
}

function isForeign(out: string, name: string, digests: readonly string[]): boolean {
  const path = join(out, name);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  return !stat.isFile() || !digests.includes(digestOf(readFileSync(path)));
}

/** Each folder on the way must be one, or a link could lead out. */
function writeBelow(out: string, name: string, text: string): void {
  const parts = dirname(name)
    .split('/')
    .filter((part) => part !== '.');
  for (const [index] of parts.entries()) makePrivateFolderSync(join(out, ...parts.slice(0, index + 1)));
  replaceInFolderSync(join(out, name), text);
}

function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
