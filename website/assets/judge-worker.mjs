// Python in a worker: everything comes from the site's own folder, and nothing leaves it.
import { loadPyodide } from './pyodide/pyodide.mjs';

const tell = (message) => self.postMessage(message);

async function load() {
  tell({ progress: 'Loading Python (once, 13 MB) …' });
  const python = await loadPyodide();
  tell({ progress: 'Loading the rules …' });
  const answer = await fetch(new URL('./judge.zip', import.meta.url));
  python.unpackArchive(await answer.arrayBuffer(), 'zip', { extractDir: '/judge' });
  python.runPython('import sys; sys.path.insert(0, "/judge")');
  return python.pyimport('judge').judge;
}

let loading = null;
self.addEventListener('message', async ({ data }) => {
  try {
    loading ??= load();
    const judge = await loading;
    tell({ progress: 'Judging …' });
    const [text, page] = judge(data.text, data.profile, data.suite).toJs();
    tell({ text, page });
  } catch (error) {
    tell({ error: `${error}` });
  }
});
