// node read-active-session.js
import('./state.mjs').then(({ callState }) => callState('read'));
