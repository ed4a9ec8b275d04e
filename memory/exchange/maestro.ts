/** The text of a session under the names of the tracker whose format `session.md` has. */
import { generate } from '../keeping/generate.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import type { ExportFiles } from './export.js';

/** @returns `state/active-session.md`; for an archived session `state/archive/{id}.md` */
export async function maestroFiles(memory: Viewer, session: OpenSession): Promise<ExportFiles> {
  const { text } = await generate(memory, session);
  const isArchived = session.log.state.archived !== null;
  return { [isArchived ? `state/archive/${session.id}.md` : 'state/active-session.md']: text };
}
