// Asks with undici: the body goes to stdout as it comes, the exit status is 1 where it broke off.
//
//   node fetch.mjs URL [FOLDER]
//
// Without FOLDER it is the undici in Node itself, else the package below FOLDER/node_modules.

import { createRequire } from 'node:module';
import path from 'node:path';

const [url, folder] = process.argv.slice(2);
const own = folder && createRequire(path.join(path.resolve(folder), 'stack.js'))('undici');
const answer = await (own?.fetch ?? fetch)(url, { method: 'POST', body: '{}' });
try {
  for await (const data of answer.body) process.stdout.write(data);
} catch (error) {
  process.stderr.write(`${error}: ${error.cause}\n`);
  process.exitCode = 1;
}
