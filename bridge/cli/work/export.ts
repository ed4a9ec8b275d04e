import { resolve } from 'node:path';
import { crashLines, crashOf } from '../../../memory/brief/crashReport.js';
import { appliedLines, type ExportFiles, exportOf, writeExport } from '../../../memory/keeping/export.js';
import { idumbFiles } from '../../../memory/keeping/idumb.js';
import { sessionTrackerFiles } from '../../../memory/keeping/sessionTracker.js';
import { observe } from '../../../memory/observed/sources.js';
import { depthOf } from '../../../memory/sessions/delegation.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { didYouMean } from '../../../src/config/didYouMean.js';
import { UsageError } from '../../../src/errors.js';
import type { ExitCode } from '../../command/command.js';
import { printJson } from '../../command/print.js';
import { word } from '../../command/word.js';
import { namedSession } from './lifecycle.js';

type Format = (memory: Memory, session: OpenSession) => ExportFiles | Promise<ExportFiles>;
const FORMATS: Readonly<Record<string, Format>> = {
  'session-tracker': async (memory, session) => {
    const crash = await crashOf(memory, session);
    const report = crash === null ? null : crashLines(crash, memory.clock.now());
    return sessionTrackerFiles(session.log.state, appliedLines(session), report);
  },
  idumb,
};

export const exportWord = word({
  usage: 'export ID [--format session-tracker|idumb --out DIR]',
  summary: 'print the whole record as JSON, or write the files of an older tracker',
  options: { format: { type: 'string' }, out: { type: 'string' } },
  words: 1,
  async run(call): Promise<ExitCode> {
    const { memory, values, print, context } = call;
    const { format, out } = values;
    const session = namedSession(call);
    if (format === undefined && out === undefined) {
      printJson(context.io, await exportOf(memory, session));
      return 0;
    }
    if (format === undefined || out === undefined) throw new UsageError('--format and --out belong together');
    const filesOf = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    const known = Object.keys(FORMATS);
    if (filesOf === undefined)
      throw new UsageError(
        `--format ${JSON.stringify(format)}: one of ${known.join(', ')}${didYouMean(format, known)}`,
      );
    const files = writeExport(resolve(memory.surroundings.directory, out), session.id, await filesOf(memory, session));
    print(
      files.map((path) => `written: ${path}`),
      { session_id: session.id, files },
    );
    return 0;
  },
});

async function idumb(memory: Memory, session: OpenSession): Promise<ExportFiles> {
  const { state: log } = session.log;
  const { fold } = await observe(
    { log, folder: session.folder, workspace: memory.workspaceOf(log) },
    { folders: memory.programs, redact: memory.stamp.redact },
  );
  const wasGivenContext = appliedLines(session).some(({ event }) => event === 'context_given');
  return idumbFiles({ log, fold, depth: depthOf(memory.sessions, log), wasGivenContext });
}
