/** The text of a progress message while its run works. */
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Redact } from '../../../src/log/redact.js';
import { shorten } from '../../../src/log/shorten.js';
import { withoutInvisible } from '../../../src/log/visibleText.js';
import { type Activity, activityLine, quietLine, stepLine } from '../../chat/progressView.js';
import type { Text } from '../api.js';
import { renderClean } from '../markdown/render.js';
import { escapeHtml } from '../markdown/styledText.js';

/** The first words, always true: a message whose send had an unknown outcome keeps them. */
export const STARTED = 'Started.';
const SECOND_ATTEMPT = 'Second attempt.';
const LONGEST_NOTE = 400;

/**
 * @param reason why there is a second attempt; it stays below what the agent does
 *
 * The words of agents and tools are in code: Telegram makes no mention, link or command of them.
 * @returns null while there is nothing new: the text of an earlier run stays until then
 */
export function progressText(
  activity: Activity | null,
  session: AgentSession,
  now: number,
  redact: Redact,
  reason: string | null = null,
): Text | null {
  if (activity === null) return null;
  const doing = redact(activityLine(activity, now));
  const quiet = quietLine(activity);
  const step = redact(stepLine(activity) ?? '');
  const note = shorten(redact(withoutInvisible(activity.note ?? '').trim()), LONGEST_NOTE);
  const lines: Text[] = [
    ...(session.attempt === 2 ? [{ plain: SECOND_ATTEMPT, html: SECOND_ATTEMPT }] : []),
    activity.tool === null ? { plain: doing, html: escapeHtml(doing) } : inCode(doing),
    ...(quiet === null ? [] : [{ plain: quiet, html: escapeHtml(quiet) }]),
    ...(step === '' ? [] : [inCode(step)]),
    ...(note === '' ? [] : [inCode(note)]),
    ...reasonLines(reason, redact),
  ];
  return joined(lines);
}

/** @returns null if the text of an earlier run or a wait is to stay until the agent does something */
export function begunText({ attempt }: AgentSession, redact: Redact, announced: string | null): Text | null {
  if (attempt === 1) return { plain: STARTED, html: null };
  return announced === null ? null : (renderClean(announced, redact).parts[0] ?? null);
}

function joined(lines: readonly Text[]): Text {
  return { plain: lines.map(({ plain }) => plain).join('\n'), html: lines.map(({ html }) => html ?? '').join('\n') };
}

function reasonLines(reason: string | null, redact: Redact): Text[] {
  const [words] = reason === null ? [] : renderClean(reason, redact).parts;
  return words === undefined
    ? []
    : [
        { plain: '', html: '' },
        { plain: words.plain, html: words.html ?? escapeHtml(words.plain) },
      ];
}

function inCode(line: string): Text {
  return { plain: line, html: `<code>${escapeHtml(line)}</code>` };
}
