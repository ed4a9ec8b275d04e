/** A Redis in memory, for trials. Standard input: `{"socket": path}` or `{"port": number, "password": text}`. */
import { text } from 'node:stream/consumers';
import { createRedisCommandExecutor, RedisServerState, Resp2Server } from 'js-redis-server/core';
import * as z from 'zod';

const SETTINGS = z.union([z.object({ socket: z.string() }), z.object({ port: z.int(), password: z.string() })]);
const DATABASES = 16;

const settings = SETTINGS.parse(JSON.parse(await text(process.stdin)));
const state = new RedisServerState({
  databaseCount: DATABASES,
  ...('password' in settings ? { requirepass: settings.password } : {}),
});
const { server } = new Resp2Server({ server: state, executor: createRedisCommandExecutor() });

// Its own `listen` would open the port to the whole network.
if ('socket' in settings) server.listen({ path: settings.socket });
else server.listen({ port: settings.port, host: '127.0.0.1' });
process.once('SIGTERM', () => process.exit(0));
