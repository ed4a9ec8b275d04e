/** The yardstick of the server of tools: the same library with one tool, which appends a line to a file and syncs it. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'bare', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = z.strictObject({ path: z.string(), text: z.string() });
  server.registerTool('append', { description: 'Append a line to a file', inputSchema }, ({ path, text }) => {
    const descriptor = openSync(path, 'a');
    writeSync(descriptor, `${text}\n`);
    fsyncSync(descriptor);
    closeSync(descriptor);
    return { content: [{ type: 'text', text: 'appended' }] };
  });
  return server;
});
