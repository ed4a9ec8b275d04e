// echo '…' | node write-state.js REL
import('./state.mjs').then(({ callState }) => callState('write', ...process.argv.slice(2)));
