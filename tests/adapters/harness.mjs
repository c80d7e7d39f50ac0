// The adapter's half of the harness protocol, for clients of npm.
//
// A client is an async generator: it asks `base_url` and yields the events that it saw. An error is
// how it says that the stream failed. Packages are looked for in $CLIENTS_FOLDER, or where the
// command runs: node_modules of that folder.

import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const folder = path.resolve(process.env.CLIENTS_FOLDER ?? process.cwd());
const require = createRequire(path.join(folder, 'adapter.js'));
console.log = console.info = console.warn = console.error; // stdout is for answers
const write = (line) => process.stdout.write(JSON.stringify(line) + '\n');

export const load = (name) => import(pathToFileURL(require.resolve(name)).href);

export function version(name) {
  const file = path.join(folder, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : '0';
}

export const delta = (type, text, more = {}) =>
  (typeof text === 'string' && text ? [{ type, text, ...more }] : []);
export const thinking = (text, channel = 'raw') => delta('thinking.delta', text, { channel });
export const spoken = (text) => delta('text.delta', text);

async function answer(client, command) {
  const { seq, options } = command;
  if (options.markers || options.include_thinking) {
    write({ seq, skipped: 'it looks for no markers inside the text' });
    return;
  }
  try {
    for await (const event of client(command)) write({ seq, event });
  } catch (error) {
    process.stderr.write(`${seq}: ${error?.stack ?? error}\n`);
    write({ seq, end: { how: 'failed', message: `${error}` } });
    return;
  }
  write({ seq, end: { how: 'completed' } });
}

// `client` is the generator, `about` holds name, version, dialects and events.
export async function serve(client, about) {
  process.on('unhandledRejection', (error) => process.stderr.write(`unhandled: ${error}\n`));
  const implementation = { language: 'javascript', ops: ['stream'], ...about };
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    if (command.cmd === 'stop') break;
    if (command.cmd === 'start') write({ version: 1, implementation });
    else if (command.cmd === 'stream' && about.dialects.includes(command.dialect)) {
      await answer(client, command);
    } else write({ seq: command.seq, skipped: 'unknown to this adapter' });
  }
  process.exit(0);
}
