// The adapter of a client under test: one file, Node 18 or newer, no package.
//
//   conformance run --client "node adapter.mjs"
//
// It is whole: the client below reads Chat Completions by `fetch`. Put yours in its place, or leave
// this file as it is and `import { serve, thinking, spoken } from './adapter.mjs'` in your own.
//
// A client is an async generator: it asks `base_url` and yields the events that its user would see.
// What it returns is how the answer ended: nothing or 'completed', or 'cut'. An error says that it
// failed. `skip(why)` answers a case that asks for what the client does not have.

import { realpathSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

// -- your client ---------------------------------------------------------------------------------

const about = {
  name: 'my-client',
  version: '1.0',
  dialects: ['openai.chat'],
  events: ['thinking.delta', 'text.delta', 'tool.end', 'finish'],
};

async function* client({ base_url, model, messages, options, signal }) {
  if (options.markers) skip('it looks for no markers inside the text');
  const answer = await fetch(`${base_url}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(options.include_thinking ? { 'x-include-thinking': 'true' } : {}),
    },
    body: JSON.stringify({ model, messages, tools: options.tools, stream: true }),
    signal,
  });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  const calls = new Calls();
  let how = 'cut';
  for await (const { data } of readEvents(answer.body)) {
    if (data === '[DONE]') return 'completed';
    const { choices, error } = JSON.parse(data);
    if (error) throw new Error(error.message ?? 'the server reports an error');
    for (const { delta, finish_reason: reason } of choices ?? []) {
      yield* thinking(
        delta?.reasoning_content || delta?.reasoning || delta?.reasoning_text);
      yield* spoken(delta?.content);
      for (const call of delta?.tool_calls ?? []) calls.add(call.index, call.function);
      if (!reason) continue;
      yield* calls.ended();
      yield { type: 'finish', reason };
      how = 'completed';
    }
  }
  return how;
}

// -- what events are made of -----------------------------------------------------------------------

const delta = (type, text, more) =>
  typeof text === 'string' && text ? [{ type, text, ...more }] : [];

/** A delta of thinking, if there is any text; `channel` is raw, summary, or left out: any. */
export const thinking = (text, channel) => delta('thinking.delta', text, { channel });

/** A delta of visible text, if there is any. */
export const spoken = (text) => delta('text.delta', text);

/** Tool calls put together from their pieces. */
export class Calls {
  #calls = new Map();

  add(index, { name, arguments: piece } = {}) {
    const call = this.#calls.get(index) ?? { name: '', arguments: '' };
    this.#calls.set(index, call);
    call.name ||= name ?? '';
    call.arguments += piece ?? '';
  }

  /** The calls so far, each as a whole. */
  ended() {
    const whole = [...this.#calls.values()];
    this.#calls.clear();
    return whole.map((call) => ({
      type: 'tool.end', name: call.name, arguments: call.arguments || '{}',
    }));
  }
}

/** The events of a stream, as https://html.spec.whatwg.org/multipage/server-sent-events.html reads
    it: lines end in CR, LF or both, data may stand on several, what has no end was never sent. */
export async function* readEvents(body) {
  const decoder = new TextDecoder();
  let rest = '', afterReturn = false, event = { type: '', lines: [] };
  for await (const bytes of body) {
    let text = decoder.decode(bytes, { stream: true });
    if (!text) continue;
    if (afterReturn && text[0] === '\n') text = text.slice(1);
    afterReturn = text.endsWith('\r') || (afterReturn && !text);
    const lines = (rest + text).split(/\r\n|\r|\n/);
    rest = lines.pop();
    for (const line of lines) {
      if (line) readLine(event, line);
      else {
        const { type, lines: said } = event;
        event = { type: '', lines: [] };
        if (said.length) yield { type: type || 'message', data: said.join('\n') };
      }
    }
  }
}

function readLine(event, line) {
  const colon = line.indexOf(':');
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (name === 'data') event.lines.push(value);
  else if (name === 'event') event.type = value;
}

// -- the protocol ------------------------------------------------------------------------------------

class Skip extends Error {}

/** The case asks for what this client does not have. */
export function skip(why) {
  throw new Skip(why);
}

const answers = process.stdout.write.bind(process.stdout);
const write = (line) => answers(`${JSON.stringify(line)}\n`);

// What the answer to another op is called; its function gives what stands there.
const ANSWERS = { next_request: 'request', extract: 'events', restore: 'events', store: 'stored' };

/** Answers commands until `stop`. `about` has name, version, dialects, events, maybe features; `ops`
    are functions for further commands, each from the command to what its answer holds. */
export async function serve(client, about, ops = {}) {
  process.stdout.write = process.stderr.write.bind(process.stderr); // stdout is for answers
  process.on('unhandledRejection', (error) => process.stderr.write(`unhandled: ${error}\n`));
  const names = ['stream', ...Object.keys(ops).filter((name) => name in ANSWERS)];
  const implementation = { language: 'javascript', ops: names, ...about };
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    if (command.cmd === 'stop') break;
    if (command.cmd === 'start') write({ version: 1, implementation });
    else await answer(client, about, ops, command);
  }
  process.exit(0); // connections that are kept would hold it
}

async function answer(client, about, ops, command) {
  const { cmd, seq, dialect, deadline_ms: deadline } = command;
  const isSpoken = dialect === undefined || about.dialects.includes(dialect);
  const asked = { ...command, options: command.options ?? {} };
  try {
    if (cmd === 'stream' && isSpoken) {
      const how = await show(seq, client({ ...asked, signal: AbortSignal.timeout(deadline) }));
      write({ seq, end: { how } });
    } else if (isSpoken && cmd in ANSWERS && cmd in ops) {
      write({ seq, [ANSWERS[cmd]]: await ops[cmd](asked) });
    } else skip('unknown to this adapter');
  } catch (error) {
    if (error instanceof Skip) write({ seq, skipped: error.message });
    else if (cmd === 'stream') write({ seq, end: { how: 'failed', message: `${error}` } });
    else write({ seq, errored: { message: `${error}` } });
  }
}

async function show(seq, events) {
  for (;;) {
    const { value, done } = await events.next();
    if (done) return value ?? 'completed';
    write({ seq, event: value });
  }
}

const isMain = process.argv[1]
  && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href;
if (isMain) await serve(client, about);
