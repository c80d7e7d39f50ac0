// @agentclientprotocol/sdk: what a client is shown of the lines of an agent.
//
// Nobody knows which ids the requests had that are answered in these lines, so the client asks as
// often as ids may be: the answer to a prompt that was asked is how its turn stopped.

import { load, serve, spoken, thinking, version } from '../adapters/harness.mjs';

const { client, ndJsonStream } = await load('@agentclientprotocol/sdk');
const ASKED = 12;

function* told(update) {
  const text = update.content?.type === 'text' ? update.content.text : '';
  if (update.sessionUpdate === 'agent_thought_chunk') yield* thinking(text);
  if (update.sessionUpdate === 'agent_message_chunk') yield* spoken(text);
  if (update.sessionUpdate === 'tool_call') yield { type: 'call', call: [update.toolCallId, update.title] };
  if (update.sessionUpdate === 'tool_call_update') yield { type: 'call', call: [update.toolCallId, update.status] };
}

async function* stream(command) {
  const events = [];
  const lines = (await fetch(command.base_url)).body;
  const app = client()
    .onNotification('session/update', ({ params }) => { events.push(...told(params.update)); })
    .onRequest('session/request_permission', ({ params }) => {
      events.push({ type: 'call', call: [params.toolCall.toolCallId, params.options.length] });
      return { outcome: { outcome: 'cancelled' } };
    });
  const connection = app.connect(ndJsonStream(new WritableStream(), lines));
  const prompt = [{ type: 'text', text: 'Hi.' }];
  for (let number = 0; number < ASKED; number += 1) {
    connection.agent.request('session/prompt', { sessionId: 'session', prompt })
      .then(({ stopReason }) => { if (stopReason) events.push({ type: 'finish', reason: stopReason }); })
      .catch((error) => { if (error.code) events.push({ type: 'error', code: error.code }); });
  }
  await connection.closed;
  yield* events;
}

await serve(stream, {
  name: 'acp-sdk',
  version: version('@agentclientprotocol/sdk'),
  dialects: ['acp'],
  events: ['thinking.delta', 'text.delta', 'tool.end', 'finish'],
});
