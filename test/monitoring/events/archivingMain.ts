/** A process of its own for the tests of archiving: appends events, follows them, or archives and is killed on its way. */

import { CriticalEventLog } from '../../../monitoring/criticalEvents.js';
import { archiveEvents } from '../../../monitoring/events/archive.js';
import { parseCursor } from '../../../monitoring/events/cursor.js';
import { EventReader } from '../../../monitoring/events/reader.js';
import { systemClock } from '../../../src/time.js';
import { eventAt } from './eventLines.js';

const [role = '', file = '', ...words] = process.argv.slice(2);

switch (role) {
  case 'append': {
    const [prefix = '', count = '0'] = words;
    const log = new CriticalEventLog(file, (text) => text);
    for (let number = 0; number < Number(count); number += 1) {
      const event = eventAt(`${prefix}-${number}`, Date.UTC(2026, 0, 1));
      await log.logCriticalEvent(event);
      process.stdout.write(`${event.id}\n`);
    }
    break;
  }
  case 'follow': {
    const [last = ''] = words;
    const stop = new AbortController();
    for await (const batch of new EventReader(file).follow(parseCursor('start'), stop.signal)) {
      for (const { event } of batch) {
        if (event.id === last) stop.abort();
        else process.stdout.write(`${event.id}\n`);
      }
    }
    break;
  }
  case 'archive': {
    const [before = '', signalledAfter = '', signal = 'SIGKILL'] = words;
    let isDue = true;
    const archived = await archiveEvents(file, {
      clock: systemClock,
      before: Number(before),
      onStep: (step) => {
        if (step !== signalledAfter || !isDue) return;
        isDue = false;
        process.stdout.write('signalled\n');
        process.kill(process.pid, signal);
      },
    });
    process.stdout.write(`${JSON.stringify(archived)}\n`);
    break;
  }
  default:
    throw new Error(`no such role: ${role}`);
}
