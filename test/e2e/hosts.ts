/** Several hosts in one scene: bridges with a name and a logs folder each, on one Redis. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { BridgeScene } from './bridgeScene.js';
import type { Conversation } from './conversation.js';
import { Evidence } from './evidence.js';
import type { Program } from './program.js';

export interface Host {
  readonly name: string;
  readonly bridge: Program;
  /** Its log and its critical events; agents and transcripts are the scene's. */
  readonly evidence: Evidence;
}

/** @returns a host whose bridge is up; whether it fetches messages is another question */
export async function startHost(
  scene: BridgeScene,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Host> {
  const bridge = scene.start(['bridge'], environmentOf(scene, name, environment));
  await scene.until(`the bridge of ${name}`, () => bridge.stderr.includes('the bridge is up'), 30_000);
  return { name, bridge, evidence: new Evidence(join(scene.folder, name)) };
}

/** @returns what makes a command one of that host */
function environmentOf(
  scene: BridgeScene,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { WATCHKEEPER_HOST: name, WATCHKEEPER_LOGS: join(scene.folder, name, 'logs'), ...environment };
}

/** @returns how many polls of the bot were refused because of another one */
export function conflicts({ telegram }: BridgeScene): number {
  return telegram.calls.filter(({ method, outcome }) => method === 'getUpdates' && outcome.includes('Conflict')).length;
}

/** @returns the critical events of a message's first attempt in the file of one host */
export function eventsAbout({ evidence }: Host, { session }: Conversation): CriticalEvent[] {
  return evidence.criticalEvents().filter(({ session_id }) => session_id === session);
}

/** @returns the sessions whose agents were started, in order, each as often as it was */
export function startsOf({ evidence }: BridgeScene): string[] {
  return evidence
    .agents()
    .filter(({ event }) => event === 'start')
    .map(({ session }) => session);
}

/** @returns the answers that were ever sent */
export function answersIn({ telegram }: BridgeScene): string[] {
  return telegram.transcript
    .filter(({ what, text }) => what === 'message' && text.startsWith('answer of'))
    .map(({ text }) => text);
}

/** @returns the processes that a process has started itself and that are there */
export function childrenOf(pid: number): number[] {
  const words = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return words === '' ? [] : words.split(' ').map(Number);
}
