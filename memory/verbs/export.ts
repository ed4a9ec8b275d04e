import { resolve } from 'node:path';
import { didYouMean } from '../../src/config/didYouMean.js';
import { UsageError } from '../../src/errors.js';
import { crashLines, crashOf } from '../brief/crashReport.js';
import type { Resuming } from '../brief/resuming.js';
import { commandbaseFiles } from '../exchange/commandbase.js';
import { appliedLines, type ExportFiles, exportOf, writeExport } from '../exchange/export.js';
import { idumbFiles } from '../exchange/idumb.js';
import { maestroFiles } from '../exchange/maestro.js';
import { sessionTrackerFiles } from '../exchange/sessionTracker.js';
import type { Observed } from '../observed/observed.js';
import { observe } from '../observed/sources.js';
import { depthOf } from '../sessions/delegation.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';

import { option } from './fields.js';
import { ID, named } from './meant.js';
import { type Outcome, verb } from './verb.js';

type Format = (memory: Resuming, session: OpenSession) => ExportFiles | Promise<ExportFiles>;
const FORMATS: Readonly<Record<string, Format>> = {
  'session-tracker': async (memory, session) => {
    const crash = await crashOf(memory, session);
    const report = crash === null ? null : crashLines(crash, memory.clock.now());
    return sessionTrackerFiles(session.log.state, appliedLines(session), report);
  },
  idumb,
  maestro: maestroFiles,
  commandbase,
};

export const exportSession = verb({
  name: 'export',
  summary: 'print the whole record as JSON, or write the files of an older tracker',
  fields: {
    id: ID,
    format: option('\n      [--format session-tracker|idumb|maestro|commandbase'),
    out: option('--out DIR]'),
  },
  async run(memory, input): Promise<Outcome> {
    const { format, out } = input;
    const session = named(memory, input);
    if (format === undefined && out === undefined) {
      return { lines: null, value: await exportOf(memory, session) };
    }
    if (format === undefined || out === undefined) throw new UsageError('--format and --out belong together');
    const filesOf = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    const known = Object.keys(FORMATS);
    if (filesOf === undefined)
      throw new UsageError(
        `--format ${JSON.stringify(format)}: one of ${known.join(', ')}${didYouMean(format, known)}`,
      );
    const files = writeExport(resolve(memory.surroundings.directory, out), session.id, await filesOf(memory, session));
    return { lines: files.map((path) => `written: ${path}`), value: { session_id: session.id, files } };
  },
});

async function foldOf(memory: Viewer, { folder, log: { state: log } }: OpenSession): Promise<Observed | null> {
  const observed = await observe(
    { log, folder, workspace: memory.workspaceOf(log) },
    { folders: memory.programs, redact: memory.stamp.redact },
  );
  return observed.fold;
}

async function commandbase(memory: Viewer, session: OpenSession): Promise<ExportFiles> {
  const { state: log } = session.log;
  return commandbaseFiles({ log, fold: await foldOf(memory, session), root: memory.workspaceOf(log)?.root ?? null });
}

async function idumb(memory: Viewer, session: OpenSession): Promise<ExportFiles> {
  const { state: log } = session.log;
  const fold = await foldOf(memory, session);
  const wasGivenContext = appliedLines(session).some(({ event }) => event === 'context_given');
  return idumbFiles({ log, fold, depth: depthOf(memory.sessions, log), wasGivenContext });
}
