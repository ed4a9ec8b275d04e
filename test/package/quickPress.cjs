// For `npm pack` in tests (packing.ts): npm presses a package as small as it gets, which takes most of its time. How small a
// package gets is no claim of a test; what is in it is, and that stays the same.
const zlib = require('node:zlib');

// Of npm alone: the build that npm starts is the ordinary one.
delete process.env.NODE_OPTIONS;
const { Gzip } = zlib;
zlib.Gzip = function QuickGzip(options) {
  return new Gzip({ ...options, level: 1 });
};
