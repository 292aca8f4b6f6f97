/** Makes the payload of a job safe to show: without secrets, and short. */

const secretNames =
  /token|secret|password|passwd|authori[sz]ation|credential|cookie|session|signature|api_?key|private_?key/i;
const longestText = 200;
const longestList = 50;
const deepest = 8;
const longestPayload = 8000;

export function maskPayload(payload: unknown): string {
  const text = JSON.stringify(mask(payload, 0), null, 2) ?? 'null';
  return text.length > longestPayload ? `${text.slice(0, longestPayload)}\n… (shortened)` : text;
}

function mask(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return '…';
  if (Array.isArray(value)) {
    const shown = value.slice(0, longestList).map((item) => mask(item, depth + 1));
    return value.length > longestList ? [...shown, `… (${value.length} items)`] : shown;
  }
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, longestList)
    .map(([name, item]) => [name.slice(0, longestText), secretNames.test(name) ? '(hidden)' : mask(item, depth + 1)]);
  if (entries.length > longestList) shown.push(['…', `(${entries.length} fields)`]);
  return Object.fromEntries(shown);
}

function maskText(text: string): string {
  // JSON inside a text can hold secrets in its fields, too.
  if (text.startsWith('{') || text.startsWith('[')) {
    const parsed = parseJson(text);
    if (parsed !== undefined) return shorten(JSON.stringify(mask(parsed, 1)) ?? '');
  }
  // The query of a signed URL is a secret.
  return shorten(text.replace(/\?[^\s"'<>]+/g, '?(hidden)'));
}

function shorten(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}… (${text.length} characters)` : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
