// npm `ai`: what streamText's fullStream tells, with one of five providers.
//
//   node ai_sdk.mjs compatible | openai-chat | openai-responses | anthropic | openrouter

import { load, serve, spoken, thinking, version } from './harness.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;
const { streamText, jsonSchema, tool } = await load('ai');
const PROVIDERS = {
  compatible: ['@ai-sdk/openai-compatible', 'openai.chat',
    (made, url) => made.createOpenAICompatible({ name: 'test', baseURL: url, apiKey: 'none' })],
  'openai-chat': ['@ai-sdk/openai', 'openai.chat',
    (made, url) => made.createOpenAI({ baseURL: url, apiKey: 'none' }).chat],
  'openai-responses': ['@ai-sdk/openai', 'openai.responses',
    (made, url) => made.createOpenAI({ baseURL: url, apiKey: 'none' }).responses],
  anthropic: ['@ai-sdk/anthropic', 'anthropic.messages',
    (made, url) => made.createAnthropic({ baseURL: url, apiKey: 'none' })],
  openrouter: ['@openrouter/ai-sdk-provider', 'openai.chat',
    (made, url) => made.createOpenRouter({ baseURL: url, apiKey: 'none' })],
};
const kind = process.argv[2] ?? 'compatible';
const [packageName, dialect, make] = PROVIDERS[kind];
const provider = await load(packageName);
const channel = dialect === 'openai.responses' ? 'summary' : 'raw'; // it tells one alone

const REASONS = { 'tool-calls': 'tool_calls', 'content-filter': 'content_filter' };

function prompt(messages) {
  const words = messages.filter((each) => each.role === 'user').map((each) => each.content);
  return words.filter((each) => typeof each === 'string' && each).at(-1) ?? 'Hello?';
}

function tools(options) {
  const made = {};
  for (const { function: about } of options.tools ?? []) {
    made[about.name] = tool({ inputSchema: jsonSchema(about.parameters ?? { type: 'object' }) });
  }
  return made;
}

async function* stream(command) {
  const result = streamText({
    model: make(provider, command.base_url)(command.model),
    prompt: prompt(command.messages),
    tools: tools(command.options),
    maxRetries: 0,
    abortSignal: AbortSignal.timeout(command.deadline_ms),
    onError: () => {},
  });
  let failure = null;
  for await (const part of result.fullStream) {
    yield* heard(part);
    if (part.type === 'error') failure ??= part.error;
    if (part.type === 'abort') failure ??= new Error('aborted');
    if (part.type === 'finish' && part.finishReason === 'error') {
      failure ??= new Error('it finished with the reason error');
    }
  }
  if (failure) throw failure;
}

function* heard(part) {
  switch (part.type) {
    case 'reasoning-delta': yield* thinking(part.text, channel); break;
    case 'text-delta': yield* spoken(part.text); break;
    case 'tool-call':
      if (part.providerExecuted) break; // the server's own
      yield { type: 'tool.end', name: part.toolName, // text as it came, where it is no JSON
        arguments: typeof part.input === 'string' ? part.input : JSON.stringify(part.input) };
      break;
    case 'finish':
      if (part.finishReason !== 'error' && part.finishReason !== 'other') {
        yield { type: 'finish', reason: REASONS[part.finishReason] ?? part.finishReason };
      }
  }
}

await serve(stream, {
  name: `ai-sdk-${kind}`,
  version: `${version('ai')}+${version(packageName)}`,
  dialects: [dialect],
  events: ['thinking.delta', 'text.delta', 'tool.end', 'finish'],
});
