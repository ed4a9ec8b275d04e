/** The story, act by act. Four acts play at the same time, each in a directory of its own; the fifth kills the bridge. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import { eventually } from '../e2e/eventually.js';
import { findRun } from '../e2e/processScan.js';
import type { Program } from '../e2e/program.js';
import { Act } from './act.js';
import { ANSWERS, CHATS, FAILING_BATCHES } from './cast.js';
import type { Narrator } from './narrator.js';

const EDITS_TO_SEE = 2;

/** Plays everything. @throws Error where something that the story needs does not come */
export async function playStory(scene: BridgeScene, narrator: Narrator): Promise<void> {
  narrator.tell('', 'The bridge starts.');
  const bridge = await scene.startBridge();
  narrator.tell('', `It takes messages (process ${bridge.pid}). Its Redis: ${describeRedis(scene)}.`);
  const act = (project: Act['project']) => new Act(scene, narrator, project);
  await Promise.all([
    playHealthy(act('website'), scene),
    playSilence(act('api')),
    playTwoFailures(act('docs'), scene),
    playCascade(act('shop'), scene),
  ]);
  const successor = await playKilledBridge(act('mobile'), scene, bridge);
  narrator.tell('', 'The bridge is asked to stop (SIGTERM).');
  const exit = await successor.stop();
  narrator.tell('', `It stopped in order after ${Math.round(exit.tookMs)} ms, exit code ${exit.code}.`);
}

async function playHealthy(act: Act, scene: BridgeScene): Promise<void> {
  act.ask();
  await act.reaction();
  const progress = await act.seen('a progress message', (messages) => messages[0]);
  act.tell(`A progress message appears: ${quote(progress.text)}`);
  const edited = await act.seen('edits of it', (messages) =>
    messages.find(({ formerTexts }) => formerTexts.length >= EDITS_TO_SEE),
  );
  act.tell(`The same message is edited in place: ${quote(edited.text)}`);
  await act.answer(ANSWERS.website);
  await scene.until('an agent that has ended', () =>
    scene.evidence.agents().some(({ session, event }) => session === act.session && event === 'stop'),
  );
}

async function playSilence(act: Act): Promise<void> {
  act.ask();
  const first = await act.agentStart(1);
  // The agent, and its tool once it has left the agent's session: for a moment it is a process without one of its own.
  const sessionsNow = () => new Set(findRun(first.run).map(({ session }) => session)).size;
  await eventually(() => sessionsNow() > 1, { what: 'the tool of the silent agent' });
  const found = act.scan(first.run, 'the first run is at work');
  const sessions = new Set(found.map(({ session }) => session)).size;
  act.tell(
    `Its agent falls silent: ${found.length} processes in ${sessions} process sessions, one of them deaf to SIGTERM.`,
  );
  await act.detection();
  await act.revival(first);
  await act.answer(ANSWERS.api);
  await act.closing();
}

async function playTwoFailures(act: Act, scene: BridgeScene): Promise<void> {
  const thread = scene.telegram.createTopic(CHATS.docs, 'Releases');
  act.ask(thread);
  const first = await act.agentStart(1);
  await act.detection();
  await act.revival(first);
  await act.detection(`${act.session}_r1`);
  const failure = await act.seen('the failure message', (messages) =>
    messages.find(({ text }) => text.startsWith('Sorry,')),
  );
  act.tell(`The chat hears of it, in topic ${failure.threadId}, as a reply: ${quote(failure.text)}`);
  await act.closing('of the first attempt');
  await act.closing('of the second attempt', `${act.session}_r1`);
}

async function playCascade(act: Act, scene: BridgeScene): Promise<void> {
  act.ask();
  const first = await act.agentStart(1);
  await scene.until('failing calls', () => failures(scene, act.session) === FAILING_BATCHES);
  act.tell(`${FAILING_BATCHES} batches of calls have failed, one after the other.`);
  await act.detection();
  await act.revival(first);
  await act.answer(ANSWERS.shop);
  await act.closing();
}

async function playKilledBridge(act: Act, scene: BridgeScene, bridge: Program): Promise<Program> {
  act.ask();
  const first = await act.agentStart(1);
  await scene.until('a call in flight', () => callsRequested(scene, act.session) === 2);
  act.scan(first.run, 'the first run is at work');
  await bridge.kill();
  act.tell(`The bridge (process ${bridge.pid}) is killed with SIGKILL while the agent works.`);
  await eventually(() => findRun(first.run).length === 0, { what: 'the end of the agent of the killed bridge' });
  act.tell('The reaper, which outlived the bridge, has ended the agent.');
  const successor = await scene.startBridge();
  act.tell(`Another bridge takes over (process ${successor.pid}).`);
  await act.detection();
  await act.revival(first);
  await act.answer(ANSWERS.mobile);
  await act.closing();
  return successor;
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

function quote(text: string): string {
  return `"${text.replace(/\s*\n+\s*/g, ' / ')}"`;
}
