// npm `openai`: raw streams of Chat Completions and Responses, or the helper `.stream()`.
//
//   node openai_node.mjs raw | helper

import { load, serve, spoken, thinking, version } from './harness.mjs';

const { OpenAI } = await load('openai');
const kind = process.argv[2] ?? 'raw';
const sdk = ({ base_url: baseURL, deadline_ms: timeout }) =>
  new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0, timeout });

async function* chat(command) {
  const { model, messages } = command;
  const chunks = await sdk(command).chat.completions.create({ model, messages, stream: true });
  const calls = new Map();
  for await (const { choices } of chunks) {
    for (const { delta, index: choice, finish_reason: reason } of choices ?? []) {
      if (choice) continue; // most programs read one
      yield* thinking(delta?.reasoning_content ?? delta?.reasoning);
      yield* spoken(delta?.content);
      if (delta?.refusal) yield { type: 'refusal.delta', text: delta.refusal };
      for (const { index, function: part } of delta?.tool_calls ?? []) {
        const call = calls.get(index) ?? { name: '', arguments: '' };
        calls.set(index, call);
        call.name ||= part?.name ?? '';
        call.arguments += part?.arguments ?? '';
      }
      if (reason) {
        for (const call of calls.values()) yield { type: 'tool.end', ...call };
        calls.clear();
        yield { type: 'finish', reason };
      }
    }
  }
}

// The helper's own events, and at last the message that it has put together.
async function* chatHelper(command) {
  const { model, messages } = command;
  const stream = sdk(command).chat.completions.stream({ model, messages });
  const heard = [];
  stream.on('content.delta', ({ delta }) => heard.push(...spoken(delta)));
  stream.on('refusal.delta', ({ delta }) => heard.push({ type: 'refusal.delta', text: delta }));
  stream.on('tool_calls.function.arguments.done', ({ name, arguments: text }) =>
    heard.push({ type: 'tool.end', name, arguments: text }));
  let failure = null;
  const final = await stream.finalChatCompletion().catch((error) => { failure = error; });
  yield* heard;
  if (failure) throw failure;
  const reason = final.choices[0]?.finish_reason;
  if (reason) yield { type: 'finish', reason };
}

const REASONS = { max_output_tokens: 'length' };

async function* responses(command) {
  const { model, messages } = command;
  const input = messages.map((each) => (each.role === 'system' ? { ...each, role: 'developer' } : each));
  const client = sdk(command);
  const events = kind === 'helper'
    ? client.responses.stream({ model, input })
    : await client.responses.create({ model, input, stream: true });
  let calls = false, over = false;
  for await (const event of events) {
    switch (event.type) {
      case 'response.reasoning_text.delta': yield* thinking(event.delta); break;
      case 'response.reasoning_summary_text.delta': yield* thinking(event.delta, 'summary'); break;
      case 'response.output_text.delta': yield* spoken(event.delta); break;
      case 'response.refusal.delta': yield { type: 'refusal.delta', text: event.delta }; break;
      case 'response.output_item.done':
        if (event.item.type !== 'function_call') break;
        calls = true;
        yield { type: 'tool.end', name: event.item.name, arguments: event.item.arguments };
        break;
      case 'response.completed':
        over = true;
        yield { type: 'finish', reason: calls ? 'tool_calls' : 'stop' };
        break;
      case 'response.incomplete': {
        over = true;
        const reason = event.response.incomplete_details?.reason ?? '';
        yield { type: 'finish', reason: REASONS[reason] ?? reason };
        break;
      }
      case 'response.failed':
      case 'error': throw new Error(JSON.stringify(event).slice(0, 200));
    }
  }
  if (!over) throw new Error('the stream ended before the response was completed');
}

const ofChat = kind === 'helper' ? chatHelper : chat;
await serve((command) => (command.dialect === 'openai.chat' ? ofChat : responses)(command), {
  name: `openai-node-${kind}`,
  version: version('openai'),
  dialects: ['openai.chat', 'openai.responses'],
  events: ['thinking.delta', 'text.delta', 'refusal.delta', 'tool.end', 'finish'],
});
