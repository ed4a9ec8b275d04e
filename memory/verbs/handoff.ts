/** Verbs of handoffs: unfinished work goes to the next worker as a document, which one worker takes. */

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { counted } from '../../src/counted.js';
import { errorCode, UsageError } from '../../src/errors.js';
import { describeFileTrouble } from '../../src/files/plainFile.js';
import { oneLine } from '../../src/log/visibleText.js';
import { authorOf, handoffText, statusOf, takenAs } from '../brief/handoff.js';
import { handoffMarkdown } from '../exchange/handoffMarkdown.js';
import { type Drift, driftOf } from '../handoffs/drift.js';
import { type Handoff, Handoffs } from '../handoffs/handoffs.js';
import { type Answer, answerWords, handoffKind, TAKEN_AS } from '../handoffs/kind.js';
import { isOfHere } from '../handoffs/onOffer.js';
import { answeredFrom, isSameWorker } from '../handoffs/taker.js';
import { RefusedError } from '../logs/kind.js';
import { callerHolder } from '../plans/holding.js';
import { ago } from '../show/status.js';
import type { Workspace } from '../workspaces/workspace.js';
import { flag, option, word } from './fields.js';
import { type Outcome, verb } from './verb.js';

const ID = word('ID');
export const listHandoffs = verb({
  name: 'list',
  summary: 'handoffs of this repository that are on offer; --all: every one',
  fields: { all: flag('[--all]') },
  run(memory, { all }) {
    const handoffs = new Handoffs(memory.shared);
    const isHere = isOfHere(memory);
    const known = handoffs.ids().flatMap((id) => handoffs.read(id) ?? []);
    const found = known.filter((handoff) => all || (handoff.state.answer === null && isHere(handoff)));
    const now = memory.clock.now();
    const rows = found.map((handoff) => {
      const { offer } = handoff.state;
      const where = all ? [offer.root] : [];
      return [
        handoff.id,
        ago(now - offer.at),
        statusOf(handoff),
        offer.session_id ?? authorOf(offer),
        ...where,
        offer.document.title,
      ];
    });
    const head = ['HANDOFF', 'WRITTEN', 'STATUS', 'BY', ...(all ? ['IN'] : []), 'TITLE'];
    return {
      lines: rows.length === 0 ? noneWords(memory.workspace, known.length) : { head, rows },
      value: found.map(({ id, state: { offer, answer } }) => ({
        ...{ handoff_id: id, title: offer.document.title, offered_at: offer.at, session_id: offer.session_id },
        ...{
          root: offer.root,
          repository: offer.repository,
          branch: offer.branch,
          status: answer?.kind ?? 'offered',
          answer,
        },
      })),
    };
  },
});

function noneWords({ kind }: Workspace, others: number): string {
  const place = kind === 'git' ? 'this repository' : 'this directory';
  const more = others === 0 ? '' : `; watchkeeper handoff list --all shows ${counted(others, 'other')}`;
  return `no handoff of ${place} is on offer${more}`;
}

export const showHandoff = verb({
  name: 'show',
  summary: 'the document, after what has changed since; --md: as Markdown',
  fields: { id: ID, md: flag('[--md'), out: option('--out FILE]') },
  async run(memory, input): Promise<Outcome> {
    const handoff = new Handoffs(memory.shared).named(idOf(input));
    const { md, out } = input;
    if (out !== undefined && !md) throw new UsageError('--out belongs to --md');
    if (md) return markdown(handoff, out === undefined ? null : resolve(memory.surroundings.directory, out));
    return shown(handoff, await driftOf(memory, handoff), memory.clock.now());
  },
});

function markdown(handoff: Handoff, file: string | null): Outcome {
  const text = handoffMarkdown(handoff);
  if (file === null) return { lines: text.trimEnd().split('\n'), value: { handoff_id: handoff.id, markdown: text } };
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new UsageError(`${file} exists; choose another --out`);
    throw new UsageError(`${file} cannot be written: ${describeFileTrouble(error)}`, { cause: error });
  }
  return { lines: `written: ${file}`, value: { handoff_id: handoff.id, file } };
}

function shown(
  handoff: Handoff,
  drift: readonly Drift[],
  now: number,
  first: readonly string[] | null = null,
): Outcome {
  const { offer, answer } = handoff.state;
  const text = handoffText(handoff, drift, now);
  const next = answer === null ? [`To take it: watchkeeper handoff accept ${handoff.id} --as follow|adapt|fresh`] : [];
  return {
    lines: [...(first ?? [`status: ${statusOf(handoff, answerWords)}`]), ...text.split('\n'), ...next],
    value: {
      handoff_id: handoff.id,
      status: answer?.kind ?? 'offered',
      as: answer?.as ?? null,
      accepted_by: answer?.kind === 'accepted' ? answer.session_id : null,
      end: handoff.state.end,
      offered_at: offer.at,
      // Words of the author may be in it: they stand in the document, within the fence.
      drift: [...new Set(drift.map(({ kind }) => kind))],
      document: text,
    },
  };
}

export const acceptHandoff = verb({
  name: 'accept',
  summary: 'take it: to follow its steps, adapt them, or begin fresh; prints the\ndocument. One worker gets it',
  fields: { id: ID, as: { ...option('--as follow|adapt|fresh'), schema: z.optional(z.enum(TAKEN_AS)) } },
  async run(memory, input): Promise<Outcome> {
    const session = input.session === undefined ? memory.implied() : memory.which(input.session);
    const { as } = input;
    const named = idOf(input);
    if (as === undefined) throw new UsageError(`how will you continue it? --as one of ${TAKEN_AS.join(', ')}`);
    const handoffs = new Handoffs(memory.shared);
    const { id } = handoffs.named(named);
    const workspace = memory.workspace.id;
    // In a sandbox the agent's process may be out of sight, and its shell still names the conversation.
    const thread = memory.agentProcess === null ? memory.conversation : undefined;
    const holder = callerHolder(memory, thread ?? undefined);
    const line = handoffKind.line('accepted', {
      ...{ as, session_id: session?.id, workspace, by: answeredFrom(memory.surroundings) },
      ...(holder !== null && { holder }),
    });
    const taker = { session_id: session?.id ?? null, holder, origin: memory.stamp.origin, workspace };
    const isOwn = (answer: Answer) => answer.kind === 'accepted' && isSameWorker(answer, taker);
    const { handoff, isKnown } = handoffs.answer(id, line, isOwn);
    const { answer } = handoff.state;
    const first =
      isKnown && answer !== null
        ? [
            `handoff ${id} is already yours, ${takenAs(answer.as ?? as)}: ${answerWords(answer)}`,
            ...sharedWords(answer),
          ]
        : [`handoff ${id} is yours, ${takenAs(as)}`];
    const outcome = shown(handoff, await driftOf(memory, handoff), memory.clock.now(), first);
    return { ...outcome, value: { ...Object(outcome.value), ...(isKnown && { already_yours: true }) } };
  },
});

/** Two people of one account are one worker to this program, and must find it out themselves. */
function sharedWords({ origin, by }: Answer): string[] {
  return origin === 'person' && by !== null
    ? [`If that was somebody else of the account ${oneLine(by.user)}, ask them before you begin.`]
    : [];
}

export const declineHandoff = verb({
  name: 'decline',
  summary: 'say that it will not be taken; no worker can take it then',
  fields: { id: ID, reason: option('[--reason WHY]') },
  run(memory, input) {
    const handoffs = new Handoffs(memory.shared);
    const { id } = handoffs.named(idOf(input));
    const line = handoffKind.line('declined', {
      session_id: memory.implied()?.id,
      workspace: memory.workspace.id,
      reason: input.reason,
      by: answeredFrom(memory.surroundings),
    });
    handoffs.answer(id, line, ({ kind }) => kind === 'declined');
    return { lines: `handoff ${id} is declined`, value: { handoff_id: id, status: 'declined' } };
  },
});

export const withdrawHandoff = verb({
  name: 'withdraw',
  summary: 'take it back, as its author or a person',
  fields: { id: ID, reason: option('[--reason WHY]') },
  run(memory, input) {
    const handoffs = new Handoffs(memory.shared);
    const { id, state } = handoffs.named(idOf(input));
    const own = memory.implied()?.id ?? null;
    // An agent without a session is not the author of what a person offered without one.
    if (memory.stamp.origin === 'agent' && (own === null || state.offer.session_id !== own))
      throw new RefusedError({
        code: 'not_author',
        message: `handoff ${id} is another session's; ask a person to withdraw it`,
      });
    const line = handoffKind.line('withdrawn', { reason: input.reason, by: answeredFrom(memory.surroundings) });
    handoffs.answer(id, line, ({ kind }) => kind === 'withdrawn');
    return { lines: `handoff ${id} is withdrawn`, value: { handoff_id: id, status: 'withdrawn' } };
  },
});

function idOf({ id }: { readonly id: string | undefined }): string {
  if (id !== undefined && id.trim() !== '') return id;
  throw new UsageError('which handoff? Name its id; `watchkeeper handoff list` shows those on offer');
}
