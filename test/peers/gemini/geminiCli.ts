/** The recipe for `gemini` (docs/agents.md), pointed at the peer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const GEMINI = { program: 'gemini', remedy: 'npm install -g @google/gemini-cli@0.61.0' };

const gemini = ['gemini', '--output-format', 'stream-json', '--skip-trust', '--approval-mode', 'yolo'];

/** The options of an agent `command`. */
export const geminiOptions: Record<string, unknown> = {
  command: [...gemini, '-m', 'gemini-2.5-pro', '--session-id', '{conversation}'],
  resume: [...gemini, '-m', 'gemini-2.5-pro', '--resume', '{conversation}'],
  output: 'gemini',
};

/** @param home keeps what it writes for itself; gets the choice of how to log in */
export function geminiEnvironment(url: string, home: string): Record<string, string> {
  mkdirSync(join(home, '.gemini'), { recursive: true });
  const settings = { security: { auth: { selectedType: 'gemini-api-key' } } };
  writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  return {
    HOME: home,
    GEMINI_API_KEY: 'local',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_TELEMETRY_ENABLED: 'false',
    // By itself it starts once more with more memory, which takes as long again.
    GEMINI_CLI_NO_RELAUNCH: 'true',
  };
}
