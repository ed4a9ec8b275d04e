// node read-state.js REL
import('./state.mjs').then(({ callState }) => callState('read', ...process.argv.slice(2)));
