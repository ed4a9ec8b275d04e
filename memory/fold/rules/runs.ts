/** The agent processes that worked on a session, and the conversations of their providers. */
import * as z from 'zod/mini';
import { CONVERSATION_SOURCES, PUBLICATIONS } from '../../words.js';
import { addTo } from '../bounds.js';
import { isOpen, openRunOf, openRuns } from '../runs.js';
import type { Run } from '../worklog.js';
import { fact, unread } from './rule.js';

const text = z.optional(z.string());
const instant = z.optional(z.nullable(z.iso.datetime()));
export const processSchema = z.object({
  host: z.string(),
  boot_id: z.string(),
  pid_namespace: z.string(),
  pid: z.int(),
  pid_start: z.string(),
});

export const runRules = {
  run_started: fact(
    () => ({ process: processSchema, agent: text, run_id: text, published: text }),
    (log, { process, agent, run_id, published }, { at }) => {
      const { runs, more } = log;
      log.told = null;
      const publication = PUBLICATIONS.find((each) => each === published) ?? null;
      const known = openRunOf(runs, process);
      if (known !== undefined) {
        // A hook of the program has reported it now.
        if (published === undefined) delete known.published;
        else if (publication === 'left') known.published = publication;
        return;
      }
      const run: Run = {
        process,
        agent: agent ?? null,
        run_id: run_id ?? null,
        started_at: at,
        ended_at: null,
        reason: null,
        ...(publication !== null && { published: publication }),
      };
      addTo(runs, run, { more, name: 'runs', isSettled: (known) => !isOpen(known) });
    },
    { afterEnd: true, starts: true },
  ),
  run_ended: fact(
    // `asked`: there was a transcript, which its program begins with the first prompt, or its history has a prompt.
    () => ({ process: processSchema, reason: text, run_id: unread<string>(), asked: z.optional(z.boolean()) }),
    (log, { process, reason, asked }, { at }) => {
      const { runs, waits, notices } = log;
      log.wasAsked ||= asked === true;
      const run = openRunOf(runs, process);
      if (run === undefined) return;
      run.ended_at = at;
      run.reason = reason ?? null;
      if (openRuns(runs).length > 0) return;
      // No agent is left that could wait or be stuck.
      waits.clear();
      notices.length = 0;
    },
    { afterEnd: true },
  ),
  conversation: fact(
    () => ({
      provider: z.string().check(z.minLength(1)),
      conversation: z.string().check(z.minLength(1)),
      source: z.enum(CONVERSATION_SOURCES),
      transcript: text,
      unrecorded: z.optional(z.boolean()),
      cwd: text,
      workspace: text,
      since: instant,
      process: z.optional(processSchema),
    }),
    (log, { provider, conversation, source, transcript, unrecorded, cwd, workspace, since, process }, { at }) => {
      const { conversations, more } = log;
      if (source === 'resume') log.resumed_at = at;
      // There was something to resume, or to compact.
      log.wasAsked ||= source === 'resume' || source === 'compact';
      // An agent that comes back resumes it.
      const known = conversations.find(
        (one) => one.moved_at === null && one.provider === provider && one.id === conversation,
      );
      log.present = known ?? log.present;
      if (known !== undefined) {
        known.process = process ?? known.process;
        return;
      }
      const entry = {
        ...{ provider, id: conversation, source, at, process: process ?? null, moved_at: null },
        ...{ transcript: transcript ?? null, cwd: cwd ?? null, workspace: workspace ?? null },
        since: since == null ? null : Date.parse(since),
        ...(unrecorded === true && { unrecorded }),
      };
      log.present = entry;
      addTo(conversations, entry, { more, name: 'conversations', isSettled: ({ moved_at }) => moved_at !== null });
    },
    { starts: true },
  ),
  conversation_moved: fact(
    () => ({
      provider: z.string().check(z.minLength(1)),
      conversation: z.string().check(z.minLength(1)),
      to: unread<string>(),
    }),
    ({ conversations }, { provider, conversation }, { at }) => {
      for (const known of conversations)
        if (known.provider === provider && known.id === conversation) known.moved_at ??= at;
    },
    { afterEnd: true, isActivity: false },
  ),
};
