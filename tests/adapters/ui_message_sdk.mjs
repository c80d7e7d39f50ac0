// npm `ai`: the messages that readUIMessageStream shows of a UI message stream, as useChat asks.

import { load, serve, spoken, thinking, version } from './harness.mjs';

const { DefaultChatTransport, readUIMessageStream, getToolName, isToolUIPart } = await load('ai');
const KINDS = {
  signature: 'signature', thoughtSignature: 'signature',
  redactedData: 'redacted', reasoningEncryptedContent: 'encrypted',
};

// What a part says now that it did not say before; `known` is what was told of it.
function* told(part, known) {
  if (part.type === 'reasoning' || part.type === 'text') {
    const more = part.text.slice(known.text?.length ?? 0);
    known.text = part.text;
    yield* part.type === 'text' ? spoken(more) : thinking(more);
  } else if (isToolUIPart(part) && part.state !== 'input-streaming' && !known.called) {
    known.called = true;
    const input = part.input ?? part.rawInput;
    if (!part.providerExecuted) yield { type: 'tool.end', name: getToolName(part),
      arguments: typeof input === 'string' ? input : JSON.stringify(input) };
  }
  const own = part.providerMetadata ?? part.callProviderMetadata ?? {};
  for (const [key, data] of Object.values(own).flatMap((each) => Object.entries(each ?? {}))) {
    if (KINDS[key] && typeof data === 'string' && data && known[key] !== data) {
      known[key] = data;
      yield { type: 'thinking.opaque', kind: KINDS[key], data };
    }
  }
}

async function* stream(command) {
  const transport = new DefaultChatTransport({ api: command.base_url });
  const chunks = await transport.sendMessages({
    chatId: 'chat', trigger: 'submit-message', messages: command.messages,
    abortSignal: AbortSignal.timeout(command.deadline_ms),
  });
  let failure = null;
  const onError = (error) => { failure ??= error; };
  const known = [];
  for await (const message of readUIMessageStream({ stream: chunks, onError })) {
    for (const [place, part] of message.parts.entries()) yield* told(part, known[place] ??= {});
  }
  if (failure) throw failure;
}

await serve(stream, {
  name: 'ai-sdk-ui',
  version: version('ai'),
  dialects: ['vercel.ui'],
  events: ['thinking.delta', 'text.delta', 'tool.end', 'thinking.opaque'],
});
