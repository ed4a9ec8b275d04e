/** Claude Code in a home of its own, whose model is played by the peer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AnthropicPeer } from '../../../peers/anthropic/anthropicPeer.js';
import { claudeEnvironment } from '../../../peers/anthropic/environment.js';
import { userTexts } from '../../../peers/anthropic/messages.js';
import type { Reply } from '../../../peers/anthropic/replies.js';
import { runUntil } from './runUntil.js';
import { playing, type Scene, type Stage } from './stage.js';
import { Terminal } from './terminal.js';

const ASKED_WITHIN_MS = 120_000;
const READY = /for shortcuts|shift.tab to cycle/;

export interface ClaudeScene extends Scene<Reply> {
  /** Of the program's settings file. */
  readonly settings?: object;
  readonly environment?: Readonly<Record<string, string>>;
}

/** @param home a folder that exists and is empty; `ended` is called while its terminals are still open */
export async function playClaude(scene: ClaudeScene, home: string, ended: () => Promise<void>): Promise<void> {
  const work = join(home, 'popoto');
  mkdirSync(work);
  const model = playing(scene.script);
  // Its questions beside the conversation (titles and the like) come without tools.
  const peer = new AnthropicPeer((request) =>
    (request.tools ?? []).length === 0 ? [{ type: 'text', text: 'A title' }] : model(userTexts(request)),
  );
  await peer.listen();
  settle(home, work, peer.apiKey, scene.settings);
  const environment = { ...claudeEnvironment(peer, home), ...scene.environment };
  const terminals: Terminal[] = [];
  const stage: Stage = {
    work,
    open: async (...options) => {
      const terminal = new Terminal(['claude', ...options], environment, work);
      terminals.push(terminal);
      await terminal.shows(READY);
      return terminal;
    },
    run: (options, untilMs) => runUntil(['claude', ...options], environment, work, untilMs),
    asked: async (times) => {
      const isMain = ({ request }: { request: { tools?: readonly object[] } }) => (request.tools ?? []).length > 0;
      await peer.waitFor(() => peer.requests.filter(isMain).length >= times, ASKED_WITHIN_MS);
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

/** Answers beforehand what the program asks at its first start. */
function settle(home: string, work: string, key: string, settings: object = {}): void {
  const config = join(home, '.claude');
  mkdirSync(config);
  const known = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const state = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    projects: { [work]: known },
  };
  writeFileSync(join(config, '.claude.json'), JSON.stringify(state));
  writeFileSync(join(config, 'settings.json'), JSON.stringify({ promptSuggestionEnabled: false, ...settings }));
}
