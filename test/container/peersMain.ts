/**
 * Telegram and GitHub for the containers of engine.sh. Usage: `peersMain.js FOLDER REPOSITORY TELEGRAM_TOKEN GITHUB_TOKEN`.
 * The stand-ins listen on loopback, which other containers cannot reach, so their ports are forwarded. People write through
 * the pipe FOLDER/say, in lines `CHAT TEXT`; the chats are in FOLDER/telegram.jsonl, GitHub's writes in FOLDER/github.jsonl.
 */
import { createReadStream } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startGithubPeer } from '../peers/github/githubPeer.js';
import { startTelegramPeer } from '../peers/telegram/telegramPeer.js';

const TELEGRAM_PORT = 8081;
const GITHUB_PORT = 8082;

const [folder = '', repository = '', telegramToken = '', githubToken = ''] = process.argv.slice(2);
const telegram = await startTelegramPeer({ token: telegramToken, logFile: join(folder, 'telegram.jsonl') });
const github = await startGithubPeer({ repository, token: githubToken, logFile: join(folder, 'github.jsonl') });
forward(TELEGRAM_PORT, telegram.url);
forward(GITHUB_PORT, github.url);

// Opened for writing, too: so it does not end when one writer closes it.
const said = createInterface({ input: createReadStream(join(folder, 'say'), { flags: 'r+' }) });
said.on('line', (line) => {
  const [chat = '', ...words] = line.split(' ');
  telegram.say(Number(chat), words.join(' '));
});
process.on('SIGTERM', () => process.exit());

/** Hands every connection at `port` of this container on to `url`; a broken one breaks the other. */
function forward(port: number, url: string): void {
  const { port: target } = new URL(url);
  createServer((outer) => {
    const inner = connect(Number(target), '127.0.0.1');
    for (const [from, to] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      from.pipe(to).on('error', () => from.destroy());
    }
  }).listen(port);
}
