// A server of the Model Context Protocol (2025-06-18) whose only tool asks the person to fill in a form.
import { createInterface } from 'node:readline';

const FORM = { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] };
const FORM_ID = 900;
let call = null;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const answers = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'asker', version: '1' },
  }),
  'tools/list': () => ({
    tools: [{ name: 'ask', description: 'Asks the person', inputSchema: { type: 'object', properties: {} } }],
  }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, result, error } = JSON.parse(line);
  if (method === 'tools/call') {
    call = id;
    const params = { message: 'Which colour?', requestedSchema: FORM };
    send({ id: FORM_ID, method: 'elicitation/create', params });
  } else if (id === FORM_ID) {
    send({ id: call, result: { content: [{ type: 'text', text: JSON.stringify(result ?? error) }] } });
  } else if (answers[method] !== undefined) send({ id, result: answers[method]() });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'Method not found' } });
});
