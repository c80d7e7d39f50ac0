// The page that judges a pasted stream. The worker is started by the first stream.
(function () {
  'use strict';
  const form = document.querySelector('form.judge');
  if (!form) return;
  const { stream, profile, file, suite } = form.elements;
  const send = form.querySelector('[type="submit"]');
  const status = document.querySelector('.judge-status');
  const words = document.querySelector('.judge-text');
  const frame = document.querySelector('.judge-report');
  let worker = null;
  const ended = (text) => {
    send.disabled = false;
    status.textContent = text;
  };

  function started() {
    const made = new Worker(form.dataset.worker, { type: 'module' });
    made.addEventListener('message', ({ data }) => {
      if (data.progress) {
        status.textContent = data.progress;
        return;
      }
      ended(data.error ?? '');
      words.textContent = data.text ?? '';
      words.hidden = !data.text;
      frame.srcdoc = data.page ?? '';
      frame.hidden = !data.page;
    });
    made.addEventListener('error', () => {
      worker = null;
      ended('The judge could not be started: this needs WebAssembly, and a page from a server.');
    });
    return made;
  }

  form.hidden = false;
  file.addEventListener('change', async () => {
    if (file.files.length) stream.value = await file.files[0].text();
  });
  for (const example of form.querySelectorAll('.judge-example')) {
    example.addEventListener('click', async () => {
      form.elements[example.dataset.into].value = await (await fetch(example.dataset.file)).text();
    });
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    worker ??= started();
    send.disabled = true;
    status.textContent = 'Judging …';
    worker.postMessage({ text: stream.value, profile: profile.value.trim(), suite: suite.value });
  });
}());
