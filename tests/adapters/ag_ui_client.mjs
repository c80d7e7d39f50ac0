// @ag-ui/client: the messages that an HttpAgent shows of a run.

import { load, serve, spoken, thinking, version } from './harness.mjs';

const { HttpAgent } = await load('@ag-ui/client');

// What a message says now that it did not say before; `known` is what was told of it.
function* told(message, known) {
  const text = typeof message.content === 'string' ? message.content : '';
  const more = text.startsWith(known.text ?? '') ? text.slice(known.text?.length ?? 0) : '';
  known.text = text;
  yield* message.role === 'reasoning' ? thinking(more) : spoken(more);
  if (message.encryptedValue && known.sealed !== message.encryptedValue) {
    known.sealed = message.encryptedValue;
    yield { type: 'thinking.opaque', kind: 'encrypted', data: message.encryptedValue };
  }
}

async function* stream(command) {
  const agent = new HttpAgent({
    url: command.base_url, threadId: 'thread', initialMessages: command.messages,
  });
  const before = new Set(command.messages.map((each) => each.id));
  const events = [];
  const known = new Map();
  const shown = ({ messages }) => {
    for (const message of messages) {
      if (before.has(message.id) || !['assistant', 'reasoning'].includes(message.role)) continue;
      if (!known.has(message.id)) known.set(message.id, {});
      events.push(...told(message, known.get(message.id)));
    }
  };
  let failure = null;
  setTimeout(() => agent.abortRun(), command.deadline_ms).unref();
  await agent.runAgent({}, {
    onMessagesChanged: shown,
    onToolCallEndEvent: ({ event, toolCallName, messages }) => {
      const calls = messages.flatMap((each) => each.toolCalls ?? []);
      const called = calls.find((each) => each.id === event.toolCallId);
      events.push({ type: 'tool.end', name: toolCallName, arguments: called.function.arguments });
    },
    onRunErrorEvent: ({ event }) => { failure ??= new Error(event.message); },
    onRunFailed: ({ error }) => { failure ??= error; },
  }).catch((error) => { failure ??= error; });
  yield* events;
  if (failure) throw failure;
}

await serve(stream, {
  name: 'ag-ui-client',
  version: version('@ag-ui/client'),
  dialects: ['agui'],
  events: ['thinking.delta', 'text.delta', 'tool.end', 'thinking.opaque'],
});
