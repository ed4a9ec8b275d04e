/** How a session is, whole, for a program: also that there is none. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { damageLines } from '../condition/words.js';
import { holderWords } from '../fold/holder.js';
import { unsettledOf } from '../fold/state.js';
import { computedOf, type Look, lookAt } from '../look/look.js';
import { stepsOf } from '../observed/step.js';
import { conflictsOf } from '../plans/conflicts.js';
import { isHolderAlive } from '../plans/holding.js';
import { nextPhases, openErrors } from '../plans/position.js';
import { unattributedChanges } from '../plans/seenChanges.js';
import { hasNoPlan, unfinishedBesides } from './planMeant.js';
import { type Outcome, verb } from './verb.js';

export const sessionStatus = verb({
  name: 'session_status',
  summary: 'how the session is, and what comes next',
  fields: {},
  async run(memory, { session: named }, door): Promise<Outcome> {
    const session = named === undefined ? memory.implied() : memory.which(named);
    const bare = named === undefined && (session === null || hasNoPlan(session));
    const others = bare ? await unfinishedBesides(memory, session) : [];
    const unfinished_here = others.length === 0 ? {} : { unfinished_here: others };
    if (session === null)
      return { lines: null, value: { exists: false, workspace: memory.workspace.root, ...unfinished_here } };
    const look = await lookAt(memory, session, { judge: door.judge });
    const { condition, state } = look;
    const place = memory.workspaceOf(look.log) ?? memory.workspace;
    const damage = damageLines(condition.damage, session.log.path, door.newerRemedy?.() ?? undefined);
    return {
      lines: null,
      value: {
        exists: true,
        ...state,
        ...computedOf(look),
        ...(damage.length > 0 && { damage }),
        attention: condition.doing,
        stuck: condition.stuck !== null,
        holders: holdersIn(memory.surroundings.process, look.log),
        unresolved_errors: openErrors(look.log),
        conflicts: conflictsOf(memory, look, place),
        unattributed_changes: unattributedChanges(look, place.root),
        next: nextIn(look),
        ...unfinished_here,
      },
    };
  },
});

/** @returns for each phase in progress the agent that has it, and whether that one lives; null if it cannot be seen */
function holdersIn(here: ProcessIdentity, log: Look['log']) {
  return [...log.steps.values()]
    .filter(({ status }) => status === 'in_progress')
    .map((step) => {
      const { id, holder, agent } = step;
      return { phase: id, holder, agent, words: holderWords(step), alive: isHolderAlive(here, log, step) };
    });
}

/** @returns the steps that can be worked on now: those in progress, else those that wait for nothing; without a plan, the agent's tasks */
function nextIn({ log, fold }: Look): { readonly step: string; readonly status: string; readonly title: string }[] {
  const open = unsettledOf(stepsOf({ log, fold }));
  const working = open.filter(({ status }) => status === 'in_progress');
  const free = new Set(nextPhases(log).map(({ phase }) => phase));
  const next = working.length > 0 ? working : open.filter(({ id }) => log.steps.size === 0 || free.has(id));
  return next.map(({ id, status, title }) => ({ step: id, status, title }));
}
