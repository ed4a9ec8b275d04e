/** An agent that reports its plan, its files and its tokens: what the chat shows of it, and what its journal keeps. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Conversation } from './conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const TOKEN = `ghp_${'a'.repeat(36)}`;
const USAGE = { event: 'usage', message_id: 'm1', input: 12, output: 3, cached: 40 };
const LINES = [
  { event: 'assistant_message', text: `I plan, with ${TOKEN}` },
  {
    event: 'plan',
    mode: 'replace',
    items: [
      { title: 'Look', status: 'completed' },
      { title: `Write the tests with ${TOKEN}`, status: 'in_progress' },
      { title: 'Push', status: 'pending' },
    ],
  },
  { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'edit', tool_input: { path: 'a.ts' }, timeout_ms: 60_000 },
  { event: 'files', tool_use_id: '1', created: ['a.ts'], deleted: [`old ${TOKEN}.ts`] },
  { event: 'plan', items: 'unreadable' },
  USAGE,
];
/** Goes on when the file `go` is there. */
const AGENT = `
  for (const line of ${JSON.stringify(LINES)}) console.log(JSON.stringify(line));
  const look = setInterval(() => {
    if (!require('node:fs').existsSync('go')) return;
    clearInterval(look);
    console.log(JSON.stringify({ event: 'post_tool_use', tool_use_id: '1' }));
    console.log(JSON.stringify({ event: 'answer', text: 'written' }));
  }, 20);`;

/** Its first attempt stops in the middle of a file; its second one keeps what it was asked. */
const KILLED = `
  const { readFileSync, writeFileSync } = require('node:fs');
  const say = (line) => console.log(JSON.stringify(line));
  if (process.env.WATCHKEEPER_ATTEMPT === '2') {
    writeFileSync('prompt', readFileSync(0, 'utf8'));
    say({ event: 'answer', text: 'done at last' });
  } else {
    writeFileSync('pid', String(process.pid));
    writeFileSync('a.ts', 'const ha');
    for (const line of ${JSON.stringify(LINES)}) say(line);
    setInterval(() => undefined, 1_000);
  }`;

describeScenes('an agent with a list of tasks', () => {
  test(
    'has its step shown in the progress message and by /status, and its plan, files, tokens and words in its journal',
    async () => {
      const agent = { kind: 'command', command: [process.execPath, '-e', AGENT], output: 'json_lines' };
      const scene = await openTestScene({ projects: { ship: { chats: [{ id: 1 }], agent } } });
      await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, `write them, the token is ${TOKEN}`);
      const line = 'step 2 of 3: Write the tests with [redacted:github_token]';
      await scene.until('its step', () => asked.replies().find(({ text }) => text.split('\n')[1] === line));
      const status = new Conversation(scene, 'ship', 1, '/status');
      await scene.until('its step in /status', () => status.replies().find(({ text }) => text.includes(` · ${line}`)));
      const record = await scene.store.records.session(asked.session);
      writeFileSync(join(record?.working_directory ?? '', 'go'), '');
      await asked.answered('written');

      const journal = scene.evidence.journal(asked.session);
      expect(journal.filter(({ event }) => ['plan', 'files', 'usage'].includes(String(event)))).toMatchObject([
        {
          event: 'plan',
          mode: 'replace',
          items: [{ status: 'completed' }, { status: 'in_progress' }, { title: 'Push' }],
        },
        { event: 'files', tool_use_id: '1', created: ['a.ts'], deleted: ['old [redacted:github_token].ts'] },
        USAGE,
      ]);
      expect(journal.find(({ event }) => event === 'user_prompt')).toMatchObject({
        text: 'write them, the token is [redacted:github_token]',
      });
      expect(journal.find(({ event }) => event === 'assistant_message')).toMatchObject({
        text: 'I plan, with [redacted:github_token]',
      });
      expect(JSON.stringify(journal)).not.toContain(TOKEN);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'that is killed: its second attempt is asked with steps, files in doubt and the link of the issue, which shows no title',
    async () => {
      const agent = { kind: 'command', command: [process.execPath, '-e', KILLED], output: 'json_lines' };
      const scene = await openTestScene({ projects: { ship: { chats: [{ id: 1 }], agent } } });
      await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'write them');
      await scene.until('its step', () => asked.replies().find(({ text }) => text.includes('step 2 of 3: Write')));
      const status = new Conversation(scene, 'ship', 1, '/status');
      await scene.until('its step in /status', () => status.replies().find(({ text }) => text.includes('step 2 of 3')));
      await asked.firstCall();
      const directory = (await scene.store.records.session(asked.session))?.working_directory ?? '';
      process.kill(Number(readFileSync(join(directory, 'pid'), 'utf8')), 'SIGKILL');
      await asked.answered('done at last');

      const [issue] = scene.github.issues();
      const [message, ...added] = readFileSync(join(directory, 'prompt'), 'utf8').split('\n\n');
      expect(message).toBe('write them');
      const text = added.join('\n\n');
      expect(text).toContain(`Issue: ${issue?.url}.`);
      for (const line of [
        'Its own tasks, 1 of 3 were done:',
        '[x] t1 "Look"',
        '[~] t2 "Write the tests with [redacted:github_token]"',
        '[ ] t3 "Push"',
        '- "a.ts": 8 bytes, not changed since it was last mentioned',
        '- created: "a.ts"',
        'It used 52 tokens of input and 3 of output.',
      ])
        expect(text.split('\n')).toContain(line);
      // Nothing twice, and nothing that says nothing of the work.
      expect(text.match(/the agent was killed by SIGKILL/g)).toHaveLength(1);
      expect(text).not.toMatch(/an agent begins|github_token\]\.ts": it does not exist/);
      expect(text).toMatch(/^- "edit: a\.ts", since \S+, without a result$/m);
      expect(text.length).toBeLessThanOrEqual(6_000);
      expect(text).not.toContain(TOKEN);
      const record = text.slice(text.indexOf('<session-record>'));
      const digest = createHash('sha256').update(record).digest('hex');
      const given = scene.evidence.worklog(asked.revival).filter(({ event }) => event === 'context_given');
      expect(given).toMatchObject([
        { event: 'context_given', origin: 'watchkeeper', level: 'revival', characters: record.length, digest },
      ]);
      expect(asked.events()[0]).toMatchObject({
        step: { number: 2, of: 3, title: 'Write the tests with [redacted:github_token]' },
        details: {
          findings: [{ sentence: expect.stringContaining('the agent had reached step 2 of 3: Write the tests') }],
        },
      });
      expect(issue?.body).toMatch(/^- Reached: step 2 of 3$/m);
      expect(JSON.stringify(scene.github.issues())).not.toContain('Write the tests');
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'that crashes has the step that it reached in its issue, whose title a public repository does not show',
    async () => {
      const script = `for (const line of ${JSON.stringify(LINES)}) console.log(JSON.stringify(line)); process.exitCode = 3`;
      const agent = { kind: 'command', command: [process.execPath, '-e', script], output: 'json_lines' };
      const scene = await openTestScene({ projects: { ship: { chats: [{ id: 1 }], agent } } });
      await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'write them');
      await asked.closing();
      const [issue] = scene.github.issues();
      expect(issue?.body).toMatch(/^- Reached: step 2 of 3$/m);
      expect(issue?.body).not.toContain('Write the tests');
    },
    SCENE_TIMEOUT_MS,
  );
});
