// npm `@anthropic-ai/sdk`: `messages.stream()`, with its blocks.

import { load, serve, spoken, thinking, version } from './harness.mjs';

const { Anthropic } = await load('@anthropic-ai/sdk');
const REASONS = { end_turn: 'stop', stop_sequence: 'stop', max_tokens: 'length',
  tool_use: 'tool_calls', refusal: 'content_filter' };
const OPENED = { thinking: 'thinking', text: 'text' };

async function* stream(command) {
  const sdk = new Anthropic({ baseURL: command.base_url.replace(/\/v1$/, ''), apiKey: 'none',
    maxRetries: 0, timeout: command.deadline_ms });
  const messages = command.messages.filter((each) => each.role !== 'system');
  const events = sdk.messages.stream({ model: command.model, messages, max_tokens: 1024 });
  const held = new Map();
  for await (const event of events) yield* heard(event, held);
}

// The blocks that are open are in `held`, by their index.
function* heard(event, held) {
  const { index: block, content_block: opened, delta } = event;
  switch (event.type) {
    case 'message_start': yield { type: 'message.start' }; break;
    case 'content_block_start': {
      const { type } = opened;
      held.set(block, { ...opened, json: '' });
      if (OPENED[type]) yield { type: `${OPENED[type]}.start`, block, explicit: true };
      if (type === 'redacted_thinking') {
        yield { type: 'thinking.opaque', kind: 'redacted', data: opened.data, block };
      }
      break;
    }
    case 'content_block_delta':
      for (const each of [...thinking(delta.thinking), ...spoken(delta.text)]) yield { ...each, block };
      if (delta.signature) {
        yield { type: 'thinking.opaque', kind: 'signature', data: delta.signature, block };
      }
      if (delta.partial_json) held.get(block).json += delta.partial_json;
      break;
    case 'content_block_stop': {
      const { type, name, input, json } = held.get(block);
      if (OPENED[type]) yield { type: `${OPENED[type]}.end`, block };
      if (type === 'tool_use') {
        yield { type: 'tool.end', name, arguments: json || JSON.stringify(input ?? {}) };
      }
      break;
    }
    case 'message_delta': {
      const reason = delta.stop_reason;
      if (reason) yield { type: 'finish', reason: REASONS[reason] ?? reason };
      break;
    }
  }
}

await serve(stream, {
  name: 'anthropic-node',
  version: version('@anthropic-ai/sdk'),
  dialects: ['anthropic.messages'],
  events: ['message.start', 'thinking.start', 'thinking.delta', 'thinking.end', 'thinking.opaque',
    'text.start', 'text.delta', 'text.end', 'tool.end', 'finish'],
});
