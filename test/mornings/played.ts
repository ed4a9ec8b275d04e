/** Plays a morning, and reads what the next agent and its person are told. */
import { Morning, type Story } from './mornings.js';

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
