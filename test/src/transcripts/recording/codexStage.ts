/** Codex in a home of its own, whose model is played by the peer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { codexEnvironment } from '../../../peers/openai/codexCli.js';
import { type OpenaiReply, startOpenaiPeer } from '../../../peers/openai/openaiPeer.js';
import { runUntil } from './runUntil.js';
import { playing, type Scene, type Stage } from './stage.js';
import { Terminal } from './terminal.js';

const ASKED_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 100;
const READY = /for shortcuts/;

export interface CodexScene extends Scene<OpenaiReply> {
  /** Lines of the table `features` of the program's configuration. */
  readonly features?: string;
  /** Further tables of it. */
  readonly tables?: string;
}

/** @param home a folder that exists and is empty; `ended` is called while its terminals are still open */
export async function playCodex(scene: CodexScene, home: string, ended: () => Promise<void>): Promise<void> {
  const work = join(home, 'popoto');
  mkdirSync(work);
  const model = playing<OpenaiReply>(scene.script);
  let asked = 0;
  const peer = await startOpenaiPeer(({ texts, hasTools }) => {
    if (hasTools === false) return [{ type: 'text', text: 'A title' }];
    asked += 1;
    return model(texts);
  });
  writeFileSync(join(home, 'config.toml'), configuration(scene, peer.url, work));
  const terminals: Terminal[] = [];
  const stage: Stage = {
    work,
    open: async (...options) => {
      const terminal = new Terminal(['codex', ...options], codexEnvironment(home), work);
      terminals.push(terminal);
      await terminal.shows(READY);
      return terminal;
    },
    run: (options, untilMs) => runUntil(['codex', ...options], codexEnvironment(home), work, untilMs),
    asked: async (times) => {
      const limit = Date.now() + ASKED_WITHIN_MS;
      while (asked < times && Date.now() < limit) await pause(LOOK_EVERY_MS);
    },
  };
  try {
    await scene.play(stage);
    await ended();
  } finally {
    for (const terminal of terminals) await terminal.close();
    await peer.stop();
  }
}

/** The daemon would outlive the scene. */
function configuration({ features = '', tables = '' }: CodexScene, url: string, work: string): string {
  return `model = "local"
model_provider = "peer"
approval_policy = "on-request"
sandbox_mode = "danger-full-access"

[model_providers.peer]
name = "peer"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "PEER_KEY"

[projects."${work}"]
trust_level = "trusted"

[features]
daemon_auto_start = false
${features}

${tables}
`;
}
