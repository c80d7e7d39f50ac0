// npm `ai`: what streamText's fullStream tells, with one of three providers.
//
//   node ai_sdk.mjs compatible | openai-chat | openai-responses
//
// Packages are looked for where the command runs: node_modules of the working folder.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const require = createRequire(path.join(process.env.AI_SDK_FOLDER ?? process.cwd(), 'adapter.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { streamText, jsonSchema, tool } = await load('ai');

const kind = process.argv[2] ?? 'compatible';
const dialect = kind === 'openai-responses' ? 'openai.responses' : 'openai.chat';
const channel = kind === 'openai-responses' ? 'summary' : 'raw';
const packageName = kind === 'compatible' ? '@ai-sdk/openai-compatible' : '@ai-sdk/openai';
const provider = await load(packageName);
const version = (name) => {
  const entry = require.resolve(name);
  const folder = entry.slice(0, entry.lastIndexOf(name) + name.length);
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')).version;
};

const about = {
  name: `ai-sdk-${kind}`,
  language: 'javascript',
  version: `${version('ai')}+${version(packageName)}`,
  dialects: [dialect],
  ops: ['stream'],
  events: ['thinking.delta', 'text.delta', 'tool.end', 'finish'],
};
const REASONS = { 'tool-calls': 'tool_calls', 'content-filter': 'content_filter' };

const write = (line) => process.stdout.write(JSON.stringify(line) + '\n');

function model({ base_url: baseURL, model: id }) {
  if (kind === 'compatible') {
    return provider.createOpenAICompatible({ name: 'test', baseURL, apiKey: 'none' })(id);
  }
  const openai = provider.createOpenAI({ baseURL, apiKey: 'none' });
  return kind === 'openai-chat' ? openai.chat(id) : openai.responses(id);
}

function prompt(messages) {
  const words = messages.filter((each) => each.role === 'user').map((each) => each.content);
  return words.filter((each) => typeof each === 'string').at(-1) ?? 'Hello?';
}

function tools(options) {
  const made = {};
  for (const { function: about } of options.tools ?? []) {
    made[about.name] = tool({ inputSchema: jsonSchema(about.parameters ?? { type: 'object' }) });
  }
  return made;
}

async function stream(command) {
  const { seq, options } = command;
  if (options.markers || options.include_thinking) {
    write({ seq, skipped: 'thinking inside the text needs extractReasoningMiddleware' });
    return;
  }
  let how = 'completed';
  const result = streamText({
    model: model(command),
    prompt: prompt(command.messages),
    tools: tools(options),
    maxRetries: 0,
    abortSignal: AbortSignal.timeout(command.deadline_ms),
    onError: () => {},
  });
  try {
    for await (const part of result.fullStream) {
      const event = heard(part);
      if (event) write({ seq, event });
      if (part.type === 'error' || part.type === 'abort') how = 'failed';
      if (part.type === 'finish' && part.finishReason === 'error') how = 'failed';
    }
  } catch (error) {
    process.stderr.write(`${seq}: ${error}\n`);
    how = 'failed';
  }
  write({ seq, end: { how } });
}

function heard(part) {
  switch (part.type) {
    case 'reasoning-delta':
      return part.text ? { type: 'thinking.delta', channel, text: part.text } : null;
    case 'text-delta':
      return part.text ? { type: 'text.delta', text: part.text } : null;
    case 'tool-call':
      return { type: 'tool.end', name: part.toolName, arguments: JSON.stringify(part.input) };
    case 'finish':
      return part.finishReason === 'error' || part.finishReason === 'other'
        ? null
        : { type: 'finish', reason: REASONS[part.finishReason] ?? part.finishReason };
    default:
      return null;
  }
}

process.on('unhandledRejection', (error) => process.stderr.write(`unhandled: ${error}\n`));
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if (command.cmd === 'stop') break;
  if (command.cmd === 'start') write({ version: 1, implementation: about });
  else if (command.cmd === 'stream' && command.dialect === dialect) await stream(command);
  else write({ seq: command.seq, skipped: 'unknown to this adapter' });
}
process.exit(0);
