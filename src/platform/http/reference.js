// The script of the reference page: sends the requests of its forms. It stores nothing, and calls only the page's own service.
const service = new URL('.', location.href);
for (const span of document.querySelectorAll('[data-origin]')) span.textContent = service.href.replace(/\/$/, '');

/** Longer responses are cut. */
const maxShown = 100_000;

const headersByScheme = {
  accessToken: (value) => ['authorization', `Bearer ${value}`],
  internalKey: (value) => ['x-internal-key', value],
  adminToken: (value) => ['x-admin-token', value],
};

/** Returns the first credential of the operation that is filled in. */
function credentialFor(schemes) {
  const fields = document.getElementById('credentials')?.elements;
  for (const scheme of schemes) {
    const value = fields?.namedItem(scheme)?.value.trim();
    if (value) return headersByScheme[scheme](value);
  }
  return undefined;
}

function readRequest(form) {
  const { method, path, schemes } = form.dataset;
  const query = new URLSearchParams();
  const headers = new Headers();
  let filled = path;
  for (const { name, value } of form.querySelectorAll('input')) {
    const [place, key] = [name.slice(0, name.indexOf(':')), name.slice(name.indexOf(':') + 1)];
    if (place === 'path') filled = filled.replace(`{${key}}`, encodeURIComponent(value));
    else if (value === '') continue;
    else if (place === 'query') query.set(key, value);
    else headers.set(key, value);
  }
  const credential = credentialFor(schemes.split(' '));
  if (credential) headers.set(...credential);
  const body = form.elements.namedItem('body')?.value;
  if (body) headers.set('content-type', 'application/json');
  const search = query.size > 0 ? `?${query}` : '';
  return new Request(new URL(`${filled.slice(1)}${search}`, service), { method, headers, ...(body && { body }) });
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Shows the response while it arrives, because a stream of events can take minutes. */
async function show(output, response) {
  const head = `${response.status} ${response.statusText}\n`;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (isStream || text.length > maxShown) output.textContent = `${head}\n${text.slice(0, maxShown)}`;
    if (text.length > maxShown) return;
  }
  output.textContent = `${head}\n${isStream ? text : pretty(text)}`;
}

document.addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.target;
  if (form.id === 'credentials') return;
  let output = form.querySelector('output');
  if (output === null) {
    output = form.appendChild(document.createElement('output'));
    output.tabIndex = 0;
  }
  const button = form.querySelector('button');
  button.disabled = true;
  output.textContent = 'Sending …';
  try {
    await show(output, await fetch(readRequest(form)));
  } catch (error) {
    output.textContent = `The request failed: ${error.message}`;
  } finally {
    button.disabled = false;
  }
});
