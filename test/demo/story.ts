/** The story, one act after the other. The fourth act kills the bridge, and another one plays the rest. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import { eventually } from '../e2e/eventually.js';
import { findRun } from '../e2e/processScan.js';
import type { Program } from '../e2e/program.js';
import { Act, quote } from './act.js';
import { CHATS, FAILING_BATCHES, type Story } from './cast.js';
import type { Narrator } from './narrator.js';
import { Readings } from './readings.js';

const EDITS_TO_SEE = 2;

/** Plays everything. @throws Error where something that the story needs does not come */
export async function playStory(scene: BridgeScene, narrator: Narrator): Promise<void> {
  const issuesTold = new Set<string>();
  const act = (story: Story) => new Act(scene, narrator, story, issuesTold);
  for (const { id, title } of Object.values(CHATS)) scene.telegram.openChat(id, { title, forum: id < 0 });
  const bridge = await scene.startBridge();
  narrator.tell(`The bridge takes messages (process ${bridge.pid}). Its Redis: ${describeRedis(scene)}.`);
  narrator.act('a healthy job');
  await playHealthy(act('healthy'), scene, narrator);
  narrator.act('an agent hangs');
  await playHang(act('hang'), narrator);
  narrator.act('the same project again: every call fails');
  await playCascade(act('cascade'), scene, narrator);
  narrator.act('and again: the bridge itself is killed');
  const successor = await playKilledBridge(act('killed'), scene, narrator, bridge);
  narrator.act('a job that fails twice');
  await playTwoFailures(act('crash'), scene, narrator);
  narrator.act('the daily review');
  await playReview(scene, narrator);
  const exit = await successor.stop();
  narrator.tell(`The bridge was asked to stop: in order, exit code ${exit.code}.`);
}

async function playHealthy(act: Act, scene: BridgeScene, narrator: Narrator): Promise<void> {
  act.ask();
  await act.reaction();
  const progress = await act.seen('a progress message', ([message]) => message);
  narrator.tell(`A progress message appears: ${quote(progress.text)}`);
  const edited = await act.seen('edits of it', (replies) =>
    replies.find(({ formerTexts }) => formerTexts.length >= EDITS_TO_SEE),
  );
  narrator.tell(`It is edited in place: ${quote(edited.text)}`);
  await act.answer();
  await scene.until('an agent that has ended', () =>
    scene.evidence.agents().some(({ session, event }) => session === act.session && event === 'stop'),
  );
}

async function playHang(act: Act, narrator: Narrator): Promise<void> {
  act.ask();
  const first = await act.agentStart(1);
  // The agent, and its tool once it has left the agent's session: for a moment it is a process without one of its own.
  const sessionsNow = () => new Set(findRun(first.run).map(({ session }) => session)).size;
  await eventually(() => sessionsNow() > 1, { what: 'the tool of the silent agent' });
  const { length } = act.scan(first.run, 'the first run is at work');
  narrator.tell(`Its tool hangs. The run has ${length} processes, one of them deaf to SIGTERM.`);
  await act.detection();
  await act.revival(first);
  await act.secondTry();
  await act.answer();
  await act.recovery();
}

async function playCascade(act: Act, scene: BridgeScene, narrator: Narrator): Promise<void> {
  act.ask();
  const first = await act.agentStart(1);
  await scene.until('failing calls', () => failures(scene, act.session) === FAILING_BATCHES);
  narrator.tell(`${FAILING_BATCHES} calls have failed, one after the other.`);
  await act.detection();
  await act.revival(first);
  await act.secondTry();
  await act.answer();
  await act.recovery();
}

async function playKilledBridge(act: Act, scene: BridgeScene, narrator: Narrator, bridge: Program): Promise<Program> {
  act.ask();
  const first = await act.agentStart(1);
  await scene.until('a call in flight', () => callsRequested(scene, act.session) === 2);
  act.scan(first.run, 'the first run is at work');
  await bridge.kill();
  narrator.tell(`The bridge (process ${bridge.pid}) is killed with SIGKILL while the agent works.`);
  await eventually(() => findRun(first.run).length === 0, { what: 'the end of the agent of the killed bridge' });
  narrator.tell('The reaper, which outlived the bridge, has ended the agent.');
  const successor = await scene.startBridge();
  narrator.tell(`Another bridge takes over (process ${successor.pid}).`);
  await act.detection();
  await act.revival(first);
  await act.secondTry();
  await act.answer();
  await act.recovery();
  return successor;
}

async function playTwoFailures(act: Act, scene: BridgeScene, narrator: Narrator): Promise<void> {
  const { id, speaker, topic } = CHATS.docs;
  act.ask(scene.telegram.createTopic(id, topic, { name: speaker }));
  const first = await act.agentStart(1);
  await act.detection();
  await act.revival(first);
  await act.secondTry();
  await act.detection(`${act.session}_r1`);
  const failure = await act.seen('the failure message', (replies) =>
    replies.find(({ text }) => text.startsWith('Sorry,')),
  );
  const [sorry = '', reason = ''] = failure.text.split('\n\n');
  narrator.tell(`The chat reads, as a reply: ${quote(`${sorry}\n${reason}`)} …`, 'person');
  await act.closing();
  await act.closing(`${act.session}_r1`);
}

/** @throws Error where the command fails */
async function playReview(scene: BridgeScene, narrator: Narrator): Promise<void> {
  const review = await scene.run(['daydream']);
  if (review.exit?.code !== 0) throw new Error(`the daily review was not written:\n${review.lastWords()}`);
  const headline = new Readings(scene.folder).reviews().at(-1)?.split('\n\n')[1] ?? '';
  narrator.tell(`\`watchkeeper daydream\` writes: ${quote(headline.replaceAll('**', ''))}`);
}

function failures(scene: BridgeScene, session: string): number {
  return scene.evidence.journal(session).filter((line) => line.event === 'post_tool_use' && line.outcome === 'failed')
    .length;
}

function callsRequested(scene: BridgeScene, session: string): number {
  return scene.evidence.journal(session).filter(({ event }) => event === 'pre_tool_use').length;
}

function describeRedis(scene: BridgeScene): string {
  const { kind } = JSON.parse(readFileSync(join(scene.logs, 'redis', 'endpoint.json'), 'utf8')) as { kind: string };
  if (kind === 'js-redis-server')
    return 'the JavaScript server, because neither redis-server nor valkey-server is on PATH';
  return `a ${kind} of its own, found on PATH`;
}
