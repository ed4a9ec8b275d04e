/** Plays a morning, and reads what the next agent and its person are told. */
import { repeatedIn } from '../memory/brief/repeated.js';
import { Morning, type Story } from './mornings.js';

/** Of characters that say nothing new in a context. */
export const MOST_REPEATED = 160;
/** Lines that say nothing of the work, or what another line says. */
const EMPTY = /^.*(?:"session begins|"an agent begins|"the agent ended|resumed after a while|it rested for).*$/gm;

export const nothingNew = (text: string) => [...repeatedIn(text), ...(text.match(EMPTY) ?? [])].join('').length;

export interface Told {
  /** The label of the session whose record the agent gets. Null if it gets none. */
  readonly first: string | null;
  readonly person: string | null;
  /** What it should have heard besides. */
  readonly missing: readonly string[];
  /** Of the context. */
  readonly characters: number;
  readonly text: string;
  readonly notice: string | null;
}

export async function played(story: Story): Promise<Told> {
  const morning = new Morning();
  await story.day(morning);
  const { text, notice } = await morning.next();
  const id = /^Session (\S+?)(?::|$)/m.exec(text)?.[1] ?? null;
  const label = [...morning.ids].find(([, known]) => known === id)?.[0] ?? id;
  const [, how = null] = /an agent here (crashed|was cut off)/.exec(notice ?? '') ?? [];
  return {
    first: label,
    person: how === 'was cut off' ? 'cut off' : how,
    missing: (story.also ?? []).filter((words) => !text.includes(words)),
    characters: text.length,
    ...{ text, notice },
  };
}
