/** What the tests of a Redis in trouble share: a project whose work takes a while, and what people and the log then say. */
import { expect } from '@jest/globals';
import type { BridgeScene } from './bridgeScene.js';
import type { Conversation } from './conversation.js';
import type { Program } from './program.js';
import type { Scenario, SceneProject } from './sceneFiles.js';

const WORK: Scenario['steps'] = [
  { do: 'repeat', times: 12, steps: [{ do: 'call', tool: 'bash', input: { step: '{{index}}' }, takes_ms: 250 }] },
  { do: 'answer', text: 'worked through' },
];
export const BOAT: SceneProject = {
  chats: [
    { id: 1, directory: 'one' },
    { id: 2, directory: 'two' },
    { id: 3, directory: 'three' },
  ],
  scenarios: [
    {
      when: { message: '^fall', attempt: 1 },
      steps: [
        { do: 'call', tool: 'bash', input: {}, takes_ms: 2_000 },
        { do: 'exit', code: 1 },
      ],
    },
    { steps: WORK },
  ],
};
export const WAITS = 'Received; I start it when my store is back';

export async function expectOneAnswerEach(conversations: readonly Conversation[]): Promise<void> {
  for (const asked of conversations) {
    await asked.answered('worked through', 30_000);
    expect(asked.starts()).toHaveLength(1);
    expect(asked.repliesWith('worked through')).toHaveLength(1);
  }
}

export async function expectOutageToldOnce(scene: BridgeScene, bridge: Program): Promise<void> {
  await scene.until('the word that it is back', () => said(bridge, 'is back after').length > 0);
  expect(said(bridge, 'is away (')).toHaveLength(1);
  expect(said(bridge, 'is back after')).toHaveLength(1);
}

/** Lines of the process's log that hold these words. */
export function said(program: Program, words: string): string[] {
  return program.stderr.split('\n').filter((line) => line.includes(words));
}
