import * as z from 'zod/mini';
import { UsageError } from '../../src/errors.js';
import { oneLine } from '../../src/log/visibleText.js';
import type { Document, Settings } from '../fold/worklog.js';
import { RefusedError } from '../logs/kind.js';
import { checkPlan } from '../plans/planCheck.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { stepLine } from '../show/status.js';
import { documentAt } from '../workspaces/document.js';
import { beginSession } from './beginning.js';
import { given, neededOption, WORDS_IF_ANY } from './fields.js';
import { linesOf, PHASES, phasesOf } from './planFields.js';
import { verb } from './verb.js';

const ON_ACTIVE = ['refuse', 'archive', 'resume', 'concurrent'] as const;
const WAYS = {
  resume: 'continue it: on_active "resume"',
  archive: 'put it away, cancelled: on_active "archive"',
  concurrent: 'work next to it: on_active "concurrent"',
};

export const createSession = verb({
  name: 'create_session',
  summary: 'begin a session with a plan of phases',
  fields: {
    task: neededOption('', 'what is the task? Give "task" some words'),
    phases: given(PHASES),
    workflow_mode: given(z.optional(z.enum(['standard', 'express']))),
    design_document: given(z.optional(z.nullable(z.string()))),
    implementation_plan: given(z.optional(z.nullable(z.string()))),
    execution_mode: given(WORDS_IF_ANY),
    execution_backend: given(WORDS_IF_ANY),
    task_complexity: given(WORDS_IF_ANY),
    parent_session_id: given(WORDS_IF_ANY),
    on_active: given(z._default(z.enum(ON_ACTIVE), 'refuse')),
  },
  async run(memory, input) {
    const { task, session: wanted, on_active, parent_session_id: parent } = input;
    if (wanted !== undefined && (wanted.includes('/') || oneLine(wanted) !== wanted))
      throw new UsageError(`session_id ${JSON.stringify(wanted)}: one line without "/" is expected`);
    const phases = phasesOf((path) => memory.pathOf(path), input.phases);
    const { violations } = checkPlan(phases);
    if (violations.length > 0)
      throw new RefusedError(
        {
          code: 'invalid_plan',
          message: ['nothing was stored, because the plan has faults:', ...messagesOf(violations)],
        },
        { violations },
      );
    const { documents, warnings } = documentsOf(memory, input);
    const { workflow_mode, execution_mode, execution_backend, task_complexity } = input;
    const begun = await beginSession(memory, {
      ...{ task, parent, plan: linesOf(phases), name: undefined, id: wanted },
      existing: on_active === 'refuse' ? undefined : on_active,
      session: memory.isBridges || on_active === 'resume' ? wanted : undefined,
      settings: { workflow_mode, execution_mode, execution_backend, task_complexity, documents },
    });
    if ('others' in begun) throw activeExists(begun.others);
    const { session, outcome, isResumed = false } = begun;
    const steps = [...session.log.state.steps.values()];
    return {
      ...outcome,
      value: {
        session_id: session.id,
        path: session.folder,
        resumed: isResumed,
        phases: steps.map(({ id, title, status, blocked_by }) => ({ id, name: title, status, blocked_by })),
        ...(warnings.length > 0 && { warnings }),
      },
    };
  },
});

function messagesOf(faults: readonly { readonly message: string }[]): string[] {
  return faults.map(({ message }) => message);
}

function activeExists(others: readonly OpenSession[]): RefusedError {
  const lines = others.flatMap(({ id, log }) => [
    `session ${id} is unfinished here: ${log.state.facts?.purpose ?? ''}`,
    ...[...log.state.steps.values()].map((step) => `  ${stepLine(step)}`),
  ]);
  const message = [...lines, `Nothing was stored. ${Object.values(WAYS).join('; ')}.`];
  return new RefusedError(
    { code: 'ACTIVE_SESSION_EXISTS', message },
    { active: others.map(({ id }) => id), ways: WAYS },
  );
}

interface Named {
  readonly design_document?: string | null | undefined;
  readonly implementation_plan?: string | null | undefined;
}

/** A session begins also without a document that cannot be read, and says so. */
function documentsOf({ surroundings, workspace }: Viewer, { design_document, implementation_plan }: Named) {
  const warnings: string[] = [];
  const documents: { [name in 'design' | 'plan']?: Document } = {};
  for (const [name, path] of [
    ['design', design_document],
    ['plan', implementation_plan],
  ] as const) {
    if (path === null || path === undefined || path.trim() === '') continue;
    try {
      documents[name] = documentAt(path, surroundings.directory, workspace);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      warnings.push(`${name} document not recorded: ${error.message}`);
    }
  }
  const found: Settings['documents'] = Object.keys(documents).length === 0 ? undefined : documents;
  return { documents: found, warnings };
}
