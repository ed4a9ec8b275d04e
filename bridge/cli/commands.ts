/** Every command of the command line. */
import { type Entry, QUICK_COMMANDS } from './quickCommands.js';

export const COMMANDS: Readonly<Record<string, Entry>> = {
  bridge: { summary: 'run the bridge: take messages, run agents, watch them', load: () => import('./bridge.js') },
  watchdog: {
    summary: 'stand by for the watchdog of a bridge, or check every session once',
    load: () => import('./watchdog.js'),
  },
  doctor: { summary: 'check everything that is needed, and say how to fix it', load: () => import('./doctor.js') },
  reload: { summary: 'have bridge and standby read their configuration again', load: () => import('./reload.js') },
  'as-agent': {
    summary: "run a command as a project's agents run, for a login",
    load: () => import('./asAgent.js'),
  },
  ...QUICK_COMMANDS,
  demo: { summary: 'play the main story with local stand-ins, and check its claims', load: () => import('./demo.js') },
};
