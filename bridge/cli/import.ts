import { realpath, stat } from 'node:fs/promises';
import { UsageError } from '../../src/errors.js';
import { describeFileTrouble } from '../../src/files/plainFile.js';
import { type ImportSummary, importTranscript } from '../../src/transcripts/importTranscript.js';
import { LineFile } from '../../src/transcripts/lineFile.js';
import { type Command, type CommandContext, type ExitCode, printJson, printLines } from '../command/command.js';
import { readOptions } from '../command/options.js';

export const command: Command = {
  help: `usage: watchkeeper import FILE [--out FILE] [--json]

Writes the journal of a session that another program ran. FILE is a Claude Code
transcript (the transcripts of its sub-agents are found beside it), a Codex
rollout, or an older tool_use.jsonl; the format is recognised by content. Needs
no Redis and no configuration. Texts are redacted and shortened like those in
Watchkeeper's own journals. The same file always gives the same bytes.

  --out FILE  write the journal here; an existing file is replaced only after
              everything has been read. Without it, to standard output
  --json      with --out: {"file", "out", "format", "session_id", "lines",
              "files", "diagnostics"}

exit code: 0 written, 2 usage, a file that cannot be read or written, or a file
in which nothing is recognised

examples:
  watchkeeper import ~/.claude/projects/-home-me-popoto/5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11.jsonl --out popoto.jsonl
  watchkeeper import rollout-2026-02-05T10-00-00.jsonl | head`,
  run: (args, context) => importFile(args, context),
};

async function importFile(args: readonly string[], { io, redact }: CommandContext): Promise<ExitCode> {
  const options = { out: { type: 'string' }, json: { type: 'boolean' } } as const;
  const { values, positionals } = readOptions(args, options, 1);
  const [given] = positionals;
  if (given === undefined) throw new UsageError('which transcript? name a file, for example session.jsonl');
  const path = await findFile(given);
  if (values.out === undefined) {
    requireLines(given, await importTranscript(path, redact, (line) => printLines(io, line)));
    return 0;
  }
  const summary = await writeTo(values.out, given, path, redact);
  const asJson = { file: given, out: values.out, ...summary };
  if (values.json) printJson(io, asJson);
  else printLines(io, describe(values.out, summary));
  return 0;
}

async function writeTo(
  out: string,
  given: string,
  path: string,
  redact: CommandContext['redact'],
): Promise<ImportSummary> {
  if ((await realpath(out).catch(() => null)) === path)
    throw new UsageError(`--out: ${out} is the transcript itself; name another file`);
  const cannotWrite = (cause: unknown) =>
    new UsageError(`--out: ${out} cannot be written (${describeFileTrouble(cause)})`, { cause });
  let file: LineFile;
  try {
    file = new LineFile(out);
  } catch (cause) {
    throw cannotWrite(cause);
  }
  try {
    const summary = requireLines(given, await importTranscript(path, redact, (line) => file.write(line)));
    file.putInPlace();
    return summary;
  } catch (error) {
    file.discard();
    throw error instanceof UsageError ? error : cannotWrite(error);
  }
}

async function findFile(given: string): Promise<string> {
  try {
    const path = await realpath(given);
    if (!(await stat(path)).isDirectory()) return path;
  } catch (cause) {
    throw new UsageError(`${given} cannot be read (${describeFileTrouble(cause)})`, { cause });
  }
  throw new UsageError(`${given} is a directory; import takes one file at a time`);
}

/** @throws UsageError if nothing of the file became a journal */
function requireLines(given: string, summary: ImportSummary): ImportSummary {
  const { refused } = summary.diagnostics;
  if (refused !== null) throw new UsageError(`${given} cannot be read: ${refused}`);
  if (summary.format !== null && summary.lines > 0) return summary;
  throw new UsageError(`${given} holds no record of a transcript or a journal that is known here`);
}

function describe(out: string, { format, session_id, lines, files, diagnostics }: ImportSummary): string {
  const kinds = { claude: 'a transcript of Claude Code', codex: 'a rollout of Codex', journal: 'a journal' };
  const what = format === null ? 'nothing' : kinds[format];
  const unread = diagnostics.garbage_lines + diagnostics.oversized_lines;
  const passed = unread === 0 ? '' : `; lines that could not be read: ${unread}`;
  const from = files === 1 ? '' : `, from ${files} files`;
  return `${out}: ${lines} lines of session ${session_id}, of ${what}${from}${passed}`;
}
