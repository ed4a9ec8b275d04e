/**
 * What does it cost to make messages of an answer?
 *
 * Measured: 100 KB of Markdown as an agent writes it, rendered and cut into messages; processor time.
 * Yardstick: the parser alone, over the same text in the same process.
 * Target: at most twice the parser, for each kind of text.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { packageRoot } from '../src/host/program.js';
import { renderParts } from '../test/bridge/telegram/parts.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, processed } from './rounds.js';

const LENGTH = 100_000;
const MOST_TIMES_PARSING = 2;

const PROSE = `I looked at why the **nightly deploy** fails. The runner starts it before the *migrations* are through, so
\`deploy.ts\` finds no table named \`releases\` and gives up. It is the same fault as in [the run of Monday](https://ci.example/runs/4469).

The first one is easy to see in the log; the second one needs a look at \`src/redis/connect.ts\`, where a timeout of 30 s
begins when the process starts & not when the connection does.

`;
const CODE = `Here is the change:

\`\`\`ts
export async function connect(url: string, clock: Clock): Promise<Connection> {
  const until = clock.now() + CONNECT_WITHIN_MS;
  while (clock.now() < until) {
    const found = await tried(url).catch(() => null);
    if (found !== null && found.isReady) return found;
    await clock.sleep(RETRY_MS);
  }
  throw new UnreachableError(\`\${url} did not answer within \${CONNECT_WITHIN_MS} ms\`);
}
\`\`\`

`;
const TABLE = `| file | lines | what changed | by |
|:--|--:|:-:|---|
| \`src/redis/connect.ts\` | 42 | waits for the **connection** | ana |
| \`src/redis/retry.ts\` | 7 | new | ana |
| \`test/store/connect.test.ts\` | 118 | a server that comes late, 漢字 in its name | bo |
| [docs/design.md](docs/design.md) | 3 | says so | bo |

`;
const LISTS = `## What is left

1. Run the migrations *before* the runner:
   - [x] in \`deploy.yml\`
   - [ ] in the **staging** pipeline, which has its own
2. Raise the timeout ~~to a minute~~ to two minutes
   - see https://ci.example/runs/4470
   - and \`CONNECT_WITHIN_MS\`

> The deploy of Friday waits for this.

---

`;

const KINDS: Readonly<Record<string, string>> = {
  prose: PROSE,
  code: CODE,
  tables: TABLE,
  lists: LISTS,
  'an answer with everything': PROSE + CODE + TABLE + LISTS,
  'the README': readFileSync(join(packageRoot(), 'README.md'), 'utf8'),
};

const parser = new MarkdownIt({ html: false });
for (const [name, piece] of Object.entries(KINDS)) {
  const text = piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
  const compared = await compare({
    ours: () => processed(() => renderParts(text)),
    yardstick: () => processed(() => parser.parse(text, {})),
    rounds: 60,
    warmUpRounds: 15,
    limitMs: 10_000,
  });
  say(`rendering of ${name}, ${renderParts(text).length} messages`);
  sayCompared('rendered', 'parsed', compared);
  sayTarget({
    what: `${name}, in times of the parser`,
    value: compared.ratio.median,
    atMost: MOST_TIMES_PARSING,
    unit: '',
  });
}
