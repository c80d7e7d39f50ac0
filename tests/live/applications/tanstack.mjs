// An application of @tanstack/ai: AG-UI in front of OpenAI's Responses.
//
//   node tanstack.mjs FOLDER openai MODEL-URL

import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [folder, , model] = process.argv.slice(2);
const load = (name) => import(
  pathToFileURL(path.join(path.resolve(folder), 'node_modules', name, 'dist/esm/index.js')).href);
const ai = await load('@tanstack/ai');
const { createOpenaiChat } = await load('@tanstack/ai-openai');

const calculator = ai.toolDefinition({
  name: 'calculator',
  description: 'Works out an arithmetic expression.',
  inputSchema: { type: 'object', properties: { expression: { type: 'string' } } },
}).server(async () => '5');

createServer(async (request, response) => {
  const stopped = new AbortController();
  response.on('close', () => { if (!response.writableFinished) stopped.abort(); });
  const parts = [];
  for await (const part of request) parts.push(part);
  const asked = await ai.chatParamsFromRequest(new Request('http://127.0.0.1/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.concat(parts),
  }));
  const answer = ai.toServerSentEventsResponse(ai.chat({
    adapter: createOpenaiChat('gpt-5.2', 'none', { baseURL: `${model}/v1`, maxRetries: 0 }),
    messages: asked.messages,
    threadId: asked.threadId,
    runId: asked.runId,
    tools: [calculator],
    abortController: stopped,
    modelOptions: { reasoning: { effort: 'low', summary: 'auto' } },
  }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const piece of answer.body) response.write(piece);
  response.end();
}).listen(0, '127.0.0.1', function ready() {
  console.log(`READY http://127.0.0.1:${this.address().port}`);
});
process.on('unhandledRejection', (error) => process.stderr.write(`unhandled: ${error}\n`));
