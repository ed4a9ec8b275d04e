/** An agent whose program has the plugin: it calls the launcher with what Claude Code sends, and reads the answer. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/host/program.js';
import { at, type RowScene } from './scene.js';

const LAUNCHER = join(packageRoot(), 'plugin/hooks/run');

export interface HookAnswer {
  /** For the model; empty: nothing. */
  readonly context: string;
  /** For the person's screen; empty: nothing. */
  readonly notice: string;
  readonly code: string;
  readonly said: string;
}

/** The hooks of one scene. Each is a line of an agent's script; its answer is there when the agent is ready. */
export class Hooks {
  readonly #scene: RowScene;
  readonly #folder: string;

  constructor(scene: RowScene) {
    this.#scene = scene;
    this.#folder = join(scene.folder, 'hooks');
    mkdirSync(this.#folder, { recursive: true });
    mkdirSync(scene.home, { recursive: true, mode: 0o700 });
    const file = join(scene.home, 'installation');
    writeFileSync(file, `${packageRoot()}\n${process.execPath}\n`);
    chmodSync(file, 0o600);
  }

  /**
   * @param name of the answer
   * @param conversation of the agent, or a variable of its shell as {@link RowScene.converse} returns it
   * @returns a line for the script of an agent
   */
  line(
    name: string,
    event: string,
    conversation: string | Readonly<Record<string, string>>,
    more: object = {},
  ): string {
    const id = typeof conversation === 'string' ? conversation : String(conversation.CLAUDE_CODE_SESSION_ID);
    const transcript_path = join(this.#scene.folder, 'claude/projects/p', `${id}.jsonl`);
    const payload = { hook_event_name: event, session_id: id, transcript_path, cwd: this.#scene.repository, ...more };
    this.payload(name, JSON.stringify(payload));
    return this.call(name);
  }

  payload(name: string, bytes: string | Buffer): void {
    writeFileSync(join(this.#folder, name), bytes);
  }

  /** @returns a line that gives the launcher what {@link payload} wrote */
  call(name: string): string {
    const path = join(this.#folder, name);
    return `'${LAUNCHER}' <'${path}' >'${path}.out' 2>'${path}.err'; echo $? >'${path}.code'`;
  }

  answer(name: string): HookAnswer {
    const read = (ending: string) => readFileSync(join(this.#folder, `${name}.${ending}`), 'utf8');
    const out = read('out') === '' ? {} : JSON.parse(read('out'));
    const answer = {
      context: String(at(out, 'hookSpecificOutput', 'additionalContext') ?? ''),
      notice: String(at(out, 'systemMessage') ?? ''),
      code: read('code').trim(),
      said: read('err'),
    };
    this.#scene.answers.push({
      line: `the hook "${name}"`,
      code: Number(answer.code),
      out: read('out'),
      err: answer.said,
    });
    return answer;
  }

  /** The sessions that began by themselves, the oldest first. */
  sessions(): string[] {
    const folder = join(this.#scene.home, 'sessions');
    return (existsSync(folder) ? readdirSync(folder) : []).filter((id) => id.startsWith('ses_')).sort();
  }

  /** @returns the only session that began by itself */
  session(): string {
    const [id = '', ...others] = this.sessions();
    assert.ok(id !== '' && others.length === 0, `sessions: ${this.sessions()}`);
    return id;
  }
}

/** Lets an agent call its hooks and end. */
export async function run(scene: RowScene, ...lines: readonly string[]): Promise<void> {
  await scene.kill(await scene.agent(lines.join('\n')));
}
