// covers: memory/condition/weight.ts memory/observed/looseEnds.ts memory/programs/around.ts memory/look/unfinished.ts memory/look/written.ts
// covers: memory/brief/resumeContext.ts memory/brief/observedSections.ts memory/brief/declaredSections.ts memory/brief/changesSince.ts
/** What reaches the next agent, and its person, in the morning: the work that weighs most, however many chats came after it. */
import { expect, test } from '@jest/globals';
import { STORIES } from './mornings.js';
import { MOST_REPEATED, nothingNew, played } from './played.js';

test.each(Object.entries(STORIES))('%s', async (_, story) => {
  const { first, person, missing, characters, text } = await played(story);
  expect({ first, person, missing }).toEqual({ first: story.first, person: story.person, missing: [] });
  // One fact is told once.
  expect(nothingNew(text)).toBeLessThanOrEqual(MOST_REPEATED);
  // An idle day says nothing new, so it takes a line at most.
  if (first === null && story.also === undefined) expect(characters).toBeLessThanOrEqual(160);
});
