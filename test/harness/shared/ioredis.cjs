module.exports = globalThis[Symbol.for('watchkeeper.test.shared')].ioredis;
