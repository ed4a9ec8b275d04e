/** What the documents say and what the code does must not drift apart. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { OUTPUTS } from '../bridge/agents/command/settings.js';
import { AGENT_OPTIONS } from '../bridge/agents/options.js';
import { createAgents } from '../bridge/agents/registry.js';
import { COMMANDS as CLI_COMMANDS } from '../bridge/cli/commands.js';
import { COMMANDS } from '../bridge/intake/commands/commandText.js';
import { AGENT_BASICS } from '../src/config/agentUser.js';
import { MEMORY_DEFAULTS } from '../src/config/memorySettings.js';
import { projectFile } from '../src/config/projectFile.js';
import { readSettings, VARIABLES } from '../src/config/readSettings.js';
import { RULES } from '../src/config/rules.js';
import type { Settings } from '../src/config/settings.js';
import { packageRoot } from '../src/host/program.js';
import { CRITICAL_EVENTS } from '../src/jobs/incidents.js';
import { SECRET_VARIABLES } from '../src/log/redact.js';
import { DAY } from '../src/time.js';
import { fencedBelow } from './docs/excerpt.js';
import {
  anchorsOf,
  codeSpans,
  commandsIn,
  defaultsIn,
  firstCells,
  linksIn,
  proseIn,
  tableBelow,
} from './docs/markdown.js';
import { testFolder } from './harness/folder.js';

const ROOT = packageRoot();
const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'logs/README.md',
  'plugin/README.md',
  'test/mutations.md',
  ...filesBelow('docs', '.md'),
];
const README = read('README.md');
const CONFIGURATION = read('docs/configuration.md');
/** Ours alone: what an agent makes of the rest of its object is not in the file's schema. */
const AGENT_KEYS = Object.values(AGENT_OPTIONS).flatMap(({ shape }) =>
  Object.keys(shape).map((name) => `projects.KEY.agent.${name}`),
);
/** Which compose hands in for agents. */
const OF_AGENTS = ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'OPENAI_API_KEY', 'GEMINI_API_KEY'];
/** Told once, at the top of the file; each project may hold them too. */
const REPEATED_KEYS = ['projects.KEY.thresholds', 'projects.KEY.actions'];

/** What the built command says of itself. */
const HELP = printedHelp();
/** What its commands say of themselves, by name. */
const HELPS = new Map<string, string>();

beforeAll(async () => {
  const named = Object.entries(CLI_COMMANDS);
  for (const [name, { load }] of named) HELPS.set(name, (await load()).command.help);
});

const MOST_WORDS = 70;
const MOST_CHARACTERS = 300;
const MOST_CHANGES = 6;
/** Documents with longer paragraphs or items. Any other one has to be short, and so has one of these once it is. */
const STILL_LONG = ['docs/secrets.md'];

describe('the README', () => {
  test('is short enough to be read', () => expect(README.length).toBeLessThanOrEqual(12_000));

  test('leads to every page, to those of the internals by the design', () => {
    const pages = [...filesBelow('docs', '.md'), 'logs/README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
    const isInternal = (page: string) => page.startsWith('docs/internals/');
    const linkedByDesign = linksIn(read('docs/design.md')).map((link) => `docs/${link}`);
    expect(pages.filter((page) => !isInternal(page) && !linksIn(README).includes(page))).toEqual([]);
    expect(pages.filter((page) => isInternal(page) && !linkedByDesign.includes(page))).toEqual([]);
  });
});

describe('the changelog', () => {
  test(`has at most ${MOST_CHANGES} lines below a heading`, () => {
    const headings = read('CHANGELOG.md').split('\n### ').slice(1);
    expect(headings.length).toBeGreaterThan(5);
    expect(
      headings.filter((text) => proseIn(text).filter(({ kind }) => kind === 'item').length > MOST_CHANGES),
    ).toEqual([]);
  });
});

describe('the table of environment variables', () => {
  const rows = tableBelow(CONFIGURATION, '## Environment variables');

  test('names exactly the variables that are read', () => {
    expect(firstCells(rows).sort()).toEqual(variablesRead().sort());
  });

  test('gives the actual defaults', async () => {
    const settings = await settingsOf({
      TELEGRAM_BOT_TOKEN: '1:a-token-for-nobody',
      GITHUB_TOKEN: 'a-token-for-nobody',
    });
    const [project] = settings.projects.values();
    expect(defaultsIn(rows)).toMatchObject({
      TELEGRAM_API_ROOT: settings.telegram?.apiRoot,
      GITHUB_API_URL: settings.github?.apiUrl,
      WATCHDOG_CRON: settings.watchdogCron,
      WATCHDOG_SILENCE_MS: String(project?.thresholds.silence_ms),
      WATCHDOG_ERROR_BATCHES: String(project?.thresholds.error_batches),
      WATCHDOG_RUNAWAY_MS: String(project?.thresholds.runaway_ms),
      AGENT_CONCURRENCY: String(settings.agentConcurrency),
      WATCHKEEPER_CONFIG: 'watchkeeper.config.json',
      WATCHKEEPER_LOGS: 'logs',
      LOG_LEVEL: settings.logLevel,
      RETENTION_DAYS: String(settings.retention.keptMs / DAY),
      RETENTION_ARCHIVE_DAYS: String(settings.retention.archiveMs / DAY),
      RETENTION_ARCHIVE_BYTES: String(settings.retention.archiveBytes),
      RETENTION_LOG_BYTES: String(settings.retention.logBytes),
    });
  });

  test('lists what agents always inherit', () => {
    const [, , , meaning = ''] = rows.find(([name]) => name === '`AGENT_ENV`') ?? [];
    expect(codeSpans(meaning)).toEqual(AGENT_BASICS);
  });
});

describe('the table of keys of the configuration file', () => {
  const rows = tableBelow(CONFIGURATION, '## Keys of `watchkeeper.config.json`');

  test('names exactly the keys that are allowed', () => {
    const schema = z.toJSONSchema(projectFile, { io: 'input' });
    expect(firstCells(rows).sort()).toEqual([...keysOf(schema, ''), ...AGENT_KEYS].sort());
  });

  test('gives the actual defaults', async () => {
    const settings = await settingsOf({});
    const [project] = settings.projects.values();
    if (project === undefined) throw new Error('without a file there is one project');
    const defaults = defaultsIn(rows);
    for (const [prefix, values] of [
      ['thresholds', project.thresholds],
      ['actions', project.actions],
      ['timings', settings.timings],
      ['memory.freshness', settings.memory.freshness],
      ['memory.context', settings.memory.context],
      ['memory.delegation', settings.memory.delegation],
      ['memory.auto_archive', settings.memory.auto_archive],
    ] as const) {
      for (const [key, value] of Object.entries(values)) {
        expect([`${prefix}.${key}`, defaults[`${prefix}.${key}`]]).toEqual([`${prefix}.${key}`, String(value)]);
      }
    }
    for (const key of ['texts', 'todo_tools', 'keep_days'] as const)
      expect(defaults[`memory.${key}`]).toBe(String(settings.memory[key]));
    expect(defaults['projects.KEY.publicDetail']).toBe(project.publicDetail);
    expect(defaults['projects.KEY.reviveAfterHostLoss']).toBe(String(project.reviveAfterHostLoss));
    expect(defaults['projects.KEY.agent.kind']).toBe(project.agent.kind);
  });

  test('names the owner of each agent option', () => {
    for (const [kind, { shape }] of Object.entries(AGENT_OPTIONS)) {
      for (const name of Object.keys(shape)) {
        const [, , , meaning = ''] = rows.find(([key]) => key === `\`projects.KEY.agent.${name}\``) ?? [];
        expect(`${name}: ${meaning}`).toContain(`\`${kind}\``);
      }
    }
  });
});

describe('the table of outputs', () => {
  test('names exactly the outputs that a program may have', () => {
    expect(firstCells(tableBelow(read('docs/agents.md'), '## `command`'))).toEqual([...OUTPUTS]);
  });
});

describe('the table of critical events', () => {
  test('names exactly those that exist', () => {
    const rows = tableBelow(read('docs/events.md'), '## Every event');
    expect(firstCells(rows)).toEqual([...CRITICAL_EVENTS]);
  });
});

describe('the table of commands', () => {
  const rows = tableBelow(read('docs/commands.md'), '## Commands of the terminal');
  const [, , list = ''] = HELP.split('\n\n');

  test('names exactly the existing commands', () => {
    const commands = [...list.matchAll(/^ {2}([\w-]+)/gm)].map(([, name]) => name);
    expect(firstCells(rows).map((cell) => cell.split(' ')[0])).toEqual(commands);
  });

  test.each(['bridge', 'track'])('is held against what `%s --help` prints', (name) => {
    expect(printedHelp(name)).toBe(`${help(name).trimEnd()}\n`);
  });

  test.each(rows.map(([usage = '', , options = '']) => [usage.replaceAll('`', ''), options] as const))(
    '`%s` has these options',
    (usage, options) => {
      const [name = '', ...words] = usage.split(' ');
      const [lines = ''] = help(name).split('\n\n');
      expect(namesOfOptions(options)).toEqual(namesOfOptions(lines));
      for (const word of words) expect(lines).toContain(` ${word}`);
    },
  );
});

describe('the reference of session memory', () => {
  const text = read('docs/memory-reference.md');

  test('has the actual defaults as its example', () => {
    expect(JSON.parse(fencedBelow(text, '## Settings', '```json'))).toEqual(MEMORY_DEFAULTS);
  });

  test.each(['track', 'work'])('names every word of `%s`', (command) => {
    const [, , list = ''] = help(command).split('\n\n');
    const words = [...list.matchAll(/^ {2}([\w-]+)/gm)].map(([, word]) => word);
    const named = codeSpans(text).flatMap((span) => span.split(' ').slice(0, 2));
    expect(words.length).toBeGreaterThan(10);
    expect(words.filter((word) => word === undefined || !named.includes(word))).toEqual([]);
  });
});

describe('the table of chat commands', () => {
  test('names exactly the commands in the menu of the bot', () => {
    const rows = tableBelow(read('docs/commands.md'), '## Commands of the chat');
    expect(firstCells(rows)).toEqual(COMMANDS.map(({ command }) => `/${command}`));
  });
});

describe('the messages that are quoted for operators', () => {
  const quotes = codeSpans(read('docs/troubleshooting.md')).filter(
    (span) => span.startsWith('"') && span.endsWith('"'),
  );
  const sources = ['src', 'memory', 'monitoring', 'bridge']
    .map((ring) => filesBelow(ring, '.ts').map(read).join('\n'))
    .join('\n');

  test('are found', () => expect(quotes.length).toBeGreaterThan(15));

  test.each(quotes)('%s is in the product', (quote) => {
    expect(sources.includes(quote.slice(1, -1))).toBe(true);
  });
});

describe('the rules of the judgement', () => {
  const text = read('docs/judgement.md');
  const stated = [...text.matchAll(/^\*\*(\d+)\.\*\* /gm)].map(([, number]) => Number(number));
  const rows = tableBelow(text, '## Where each rule lives, and what proves it');

  test('are listed in order', () => {
    expect(stated).toEqual(Array.from({ length: 19 }, (_, index) => index + 1));
  });

  test('each have a place in the code and a test', () => {
    expect(firstCells(rows).map(Number)).toEqual(stated);
    for (const [number, code = '', proof = ''] of rows) {
      expect([number, codeSpans(code).filter((path) => existsSync(join(ROOT, path)))]).not.toEqual([number, []]);
      expect([number, proof]).toEqual([number, expect.stringMatching(/`test\/[\w./-]+\.ts` › "/)]);
    }
  });

  test('are those that the code cites', () => {
    const cited = ['src', 'memory', 'monitoring', 'bridge'].flatMap((ring) =>
      filesBelow(ring, '.ts').flatMap(citedRules),
    );
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter(({ number }) => !stated.includes(number))).toEqual([]);
  });

  test('name each accusation that exists', () => {
    expect(firstCells(tableBelow(text, '## Why you were woken')).sort()).toEqual([...RULES].sort());
  });
});

describe.each(DOCUMENTS)('%s', (document) => {
  const text = read(document);

  test('links to existing targets', () => {
    const missing = linksIn(text).filter((link) => !targetExists(document, link));
    expect(missing).toEqual([]);
  });

  test('names existing files', () => {
    const paths = codeSpans(text).flatMap(
      (span) => /^(?:src|memory|monitoring|bridge|test|docs|\.ci)\/[\w./-]*$/.exec(span) ?? [],
    );
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test('shows commands and options that exist', () => {
    const shown = commandsIn(text).flatMap((line) => /(?:^|\/bin\/| )watchkeeper ([a-z].*)$/.exec(line)?.[1] ?? []);
    expect(shown.filter((command) => !isCommand(command))).toEqual([]);
  });

  const tooLong = proseIn(text).filter(({ kind, text: { length }, text: prose }) =>
    kind === 'item' ? length > MOST_CHARACTERS : prose.split(' ').length > MOST_WORDS,
  );

  if (STILL_LONG.includes(document))
    test('is still long, as the list of such documents says', () => expect(tooLong).not.toEqual([]));
  else
    test(`has paragraphs of at most ${MOST_WORDS} words, and items of at most ${MOST_CHARACTERS} characters`, () => {
      expect(tooLong).toEqual([]);
    });

  test('names tests by their actual titles', () => {
    const named = [...text.matchAll(/`(test\/[\w./-]+\.ts)` › "([^"]+)"/g)];
    const missing = named.filter(([, path = '', title = '']) => !read(path).includes(title)).map(([whole]) => whole);
    expect(missing).toEqual([]);
  });
});

describe('the examples', () => {
  test('.env.example names every variable, those of compose and of agents, and nothing else', () => {
    const text = read('.env.example').replace(/^#(?=[A-Z_]+=)/gm, '');
    const ofCompose = firstCells(tableBelow(CONFIGURATION, '## Variables of the compose file'));
    const all = new Set([...variablesRead(), ...ofCompose, ...OF_AGENTS]);
    expect(Object.keys(parseEnv(text)).sort()).toEqual([...all].sort());
  });

  test('.env.example is correct: every line is optional, and no value is a secret', () => {
    const text = read('.env.example');
    expect(parseEnv(text)).toEqual({});
    expect(text).not.toMatch(/^#?(?:TELEGRAM_BOT_TOKEN|GITHUB_TOKEN)=./m);
  });

  test('watchkeeper.config.example.json is valid once its directories exist', async () => {
    const folder = testFolder();
    const text = read('watchkeeper.config.example.json');
    const directories = [...text.matchAll(/"directory": "([^"]+)"/g)].map(([, path]) => path ?? '');
    for (const path of directories) mkdirSync(join(folder, path), { recursive: true });
    const moved = text.replaceAll('"directory": "/', `"directory": "${folder}/`);
    writeFileSync(join(folder, 'watchkeeper.config.json'), moved);
    const settings = await readSettings({ environment: {}, workingDirectory: folder });
    expect(directories.length).toBeGreaterThan(1);
    expect(createAgents(settings.projects.values()).size).toBe(settings.projects.size);
  });
});

function settingsOf(environment: Readonly<Record<string, string | undefined>>): Promise<Settings> {
  return readSettings({ environment, workingDirectory: testFolder() });
}

function variablesRead(): string[] {
  return [...SECRET_VARIABLES, ...SECRET_VARIABLES.map((name) => `${name}_FILE`), ...Object.keys(VARIABLES)];
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

/** @returns the path of every key, written as the table writes it */
function keysOf(schema: object, path: string): string[] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema as JsonSchema;
  if (REPEATED_KEYS.includes(path)) return [];
  const below = Object.entries(properties).flatMap(([key, inner]) => {
    const name = path === '' ? key : `${path}.${key}`;
    // Groups at the top, and those of `memory`, hold nothing but keys that have rows of their own.
    const isGroup = (path === '' && key !== 'projects') || (path === 'memory' && (inner as JsonSchema).properties);
    return [...(isGroup ? [] : [name]), ...keysOf(inner, name)];
  });
  if (typeof additionalProperties === 'object') below.push(...keysOf(additionalProperties, `${path}.KEY`));
  if (items !== undefined) below.push(...keysOf(items, `${path}[]`));
  return [...below, ...anyOf.flatMap((choice) => keysOf(choice, path))];
}

function namesOfOptions(text: string): string[] {
  return [...new Set(text.match(/--[a-z-]+/g))].sort();
}

/** What the built command prints of itself, or of one of its commands. */
function printedHelp(...command: string[]): string {
  const program = join(ROOT, 'dist/bridge/cli/main.js');
  return execFileSync(process.execPath, [program, ...command, '--help'], { encoding: 'utf8' });
}

/** What a command says of itself. */
function help(name: string): string {
  const text = HELPS.get(name);
  if (text === undefined) throw new Error(`there is no command ${name}`);
  return text;
}

/** @param line what follows the name of the program */
function isCommand(line: string): boolean {
  const [name = '', word = ''] = line.split(' ');
  if (!new RegExp(`^ {2}${name}\\b`, 'm').test(HELP)) return name === 'help';
  const text = help(name);
  const hasWord =
    !['track', 'work', 'worktree', 'state', 'plugin'].includes(name) || new RegExp(`^ {2}${word}\\b`, 'm').test(text);
  // What stands behind `--` is a command of another program.
  const options = namesOfOptions(line.split(' -- ')[0] ?? '');
  return hasWord && options.every((option) => text.includes(option) || option === '--help');
}

/** Such as `(Judgement rules, 5-7, 10.)`. */
function citedRules(path: string): { path: string; number: number }[] {
  const citations = [...read(path).matchAll(/[Jj]udgement rules?,? (\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*)/g)];
  return citations.flatMap(([, list = '']) =>
    list.split(', ').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => ({ path, number: first + index }));
    }),
  );
}

function targetExists(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : join(dirname(document), path);
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchorsOf(read(target)).includes(anchor);
}

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
