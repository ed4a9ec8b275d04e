/**
 * A process of `peak.ts`: does its work, then prints its largest resident memory, in bytes. argv: `transcript FILE`, `learn FILE`, `work HOME`,
 * or `bridge HOME`, which watches its terminals: by that word the launcher bounds the memory as a bridge's.
 */
import { drawFromFile } from '../memory/learnings/drawFrom.js';
import { readTranscript } from '../memory/observed/transcript.js';
import { createRedactor } from '../src/log/redact.js';
import { watchOf } from './watchedTerminals.js';
import { listOf } from './workList.js';

const [what = '', path = ''] = process.argv.slice(2);
if (what === 'transcript') await readTranscript(path, createRedactor([]));
else if (what === 'learn') await drawFromFile(path, createRedactor([]));
else if (what === 'bridge') await watchOf(path).watch.runOnce();
else await listOf(path, []);
process.stdout.write(`peak ${process.resourceUsage().maxRSS * 1024}\n`);
