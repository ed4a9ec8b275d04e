/** What an agent is asked. */
import { expect, test } from '@jest/globals';
import { promptOf } from '../../../bridge/runs/prompt.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import { JournalWriter } from '../../../src/journal/writer.js';
import { describeWithRedis } from '../../harness/redis.js';
import { activeSession, openSagaScene } from '../../monitoring/incident/saga/sagaScene.js';

describeWithRedis('the prompt of a message whose run was interrupted', () => {
  test('says so in the first attempt; in the second one, what became of the first', async () => {
    const scene = await openSagaScene();
    const first = { ...(await activeSession(scene)), interruptions: 1 };
    const second = { ...revivalOf(first, scene.clock.now()), interruptions: 1 };
    const ask = (session: typeof first) => promptOf(scene.store, scene.folder, (text) => text, session);
    expect(await ask(first)).toContain('You were interrupted while you worked on this');
    expect(await ask(second)).toContain('This is the second and last attempt');
  });
});

describeWithRedis('the prompt of a second attempt', () => {
  test('names the last calls of the first one, and the files that it changed', async () => {
    const scene = await openSagaScene();
    const { store, folder, clock } = scene;
    const first = await activeSession(scene);
    const redact = (text: string) => text.replaceAll('hunter2', '…');
    const journal = JournalWriter.open({ logsFolder: folder, sessionId: first.session_id, clock, redact });
    const called = (id: string, tool: string, input: object, outcome: 'ok' | 'failed') => {
      const about = { tool_use_id: id, tool_name: tool };
      journal.append({ event: 'pre_tool_use', ...about, tool_input: input });
      journal.append({
        event: 'post_tool_use',
        ...about,
        is_error: outcome === 'failed',
        outcome,
        tool_output_preview: '',
      });
    };
    called('1', 'Edit', { file_path: 'src/changed.ts' }, 'ok');
    called('2', 'Write', { path: 'hunter2.txt' }, 'ok');
    called('3', 'Edit', { file_path: 'src/refused.ts' }, 'failed');
    called('4', 'Read', { file_path: 'src/read.ts' }, 'ok');
    journal.close();
    const prompt = await promptOf(store, folder, redact, revivalOf(first, clock.now()));
    expect(prompt).toContain('- Edit (failed): {"file_path":"src/refused.ts"}');
    expect(prompt.slice(prompt.indexOf('Files it changed'))).toBe('Files it changed:\n- src/changed.ts\n- ….txt');
  });
});
