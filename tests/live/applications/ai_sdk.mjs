// An application of npm `ai`: its UI message stream in front of the API of one provider package.
//
//   node ai_sdk.mjs FOLDER anthropic | openai | compatible | tags | hidden MODEL-URL
//
// FOLDER has node_modules with `ai`, of whatever version, and its providers.

import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

globalThis.AI_SDK_LOG_WARNINGS = false;
const [folder, kind, model] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(folder), 'application.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const ai = await load('ai');

const PROVIDERS = {
  anthropic: async () => (await load('@ai-sdk/anthropic'))
    .createAnthropic({ baseURL: `${model}/v1`, apiKey: 'none' })('claude-sonnet-4-5'),
  openai: async () => (await load('@ai-sdk/openai'))
    .createOpenAI({ baseURL: `${model}/v1`, apiKey: 'none' }).responses('gpt-5'),
  compatible: async () => (await load('@ai-sdk/openai-compatible'))
    .createOpenAICompatible({ name: 'test', baseURL: `${model}/v1`, apiKey: 'none' })('think-1'),
  hidden: () => PROVIDERS.compatible(),
  tags: async () => ai.wrapLanguageModel({
    model: await PROVIDERS.compatible(),
    middleware: ai.extractReasoningMiddleware({ tagName: 'think' }),
  }),
};
const provider = await PROVIDERS[kind]();
const providerOptions = {
  anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
  openai: { store: false, reasoningSummary: 'auto', include: ['reasoning.encrypted_content'] },
};
const calculator = ai.tool({
  description: 'Works out an arithmetic expression.',
  inputSchema: ai.jsonSchema({ type: 'object', properties: { expression: { type: 'string' } } }),
  execute: async () => '5',
});

async function body(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

const server = createServer(async (request, response) => {
  const stopped = new AbortController();
  response.on('close', () => { if (!response.writableFinished) stopped.abort(); });
  const { messages } = await body(request);
  const result = ai.streamText({
    model: provider,
    messages: await ai.convertToModelMessages(messages),
    tools: { calculator },
    stopWhen: ai.stepCountIs(5),
    maxRetries: 0,
    abortSignal: stopped.signal,
    onError: () => {},
    providerOptions,
  });
  result.pipeUIMessageStreamToResponse(response, { sendReasoning: kind !== 'hidden' });
});
process.on('unhandledRejection', (error) => process.stderr.write(`unhandled: ${error}\n`));
server.listen(0, '127.0.0.1', () => console.log(`READY http://127.0.0.1:${server.address().port}`));
