/** The request of an operation on the reference page: as a curl command, and as a form that sends it (reference.js). */
import { escapeHtml } from '../escaping.ts';
import type { ApiDocument, Operation, Parameter } from './apidocument.ts';
import { sampleOf } from './referenceschema.ts';

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** reference.js replaces the variable with the URL of the service. */
const origin = '<span data-origin>$URL</span>';

const credentialHeaders: Readonly<Record<string, string>> = {
  accessToken: '"Authorization: Bearer $TOKEN"',
  internalKey: '"X-Internal-Key: $INTERNAL_KEY"',
  adminToken: '"X-Admin-Token: $ADMIN_TOKEN"',
  sessionCookie: '"Cookie: $COOKIE"',
};

export const schemesOf = ({ security = [] }: Operation) => security.flatMap((schemes) => Object.keys(schemes));

export const isStream = ({ responses = {} }: Operation) =>
  Object.values(responses).some(({ content = {} }) => 'text/event-stream' in content);

export function renderCurl(document: ApiDocument, { method, path, operation }: Call): string {
  const scheme = schemesOf(operation)[0];
  const credential = scheme === undefined ? undefined : credentialHeaders[scheme];
  const body = sampleBody(document, operation);
  const flags = [isStream(operation) ? '-N' : '', method === 'GET' ? '' : method === 'HEAD' ? '-I' : `-X ${method}`];
  const lines = [
    ['curl', ...flags, '"{url}"'].filter((word) => word !== '').join(' '),
    ...(credential === undefined ? [] : [`-H ${credential}`]),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${body.replaceAll("'", "'\\''")}'`]),
  ];
  const url = `${origin}${escapeHtml(path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name}`))}`;
  const command = escapeHtml(lines.join(' \\\n  ')).replace('{url}', () => url);
  return `<pre tabindex="0"><code>${command}</code></pre>`;
}

/** The example of the request body, as JSON. */
export function sampleBody(document: ApiDocument, { requestBody }: Operation): string | undefined {
  const media = requestBody?.content?.['application/json'];
  if (media === undefined) return undefined;
  return JSON.stringify(media.example ?? sampleOf(document, media.schema), null, 2);
}

/** Signed URLs and redirects are not for a form. */
export const hasForm = ({ operation: { tags = [], responses = {} } }: Call) =>
  !tags.includes('edge') && responses['302'] === undefined;

export function renderForm(document: ApiDocument, call: Call): string {
  const { method, path, operation } = call;
  const fields = (operation.parameters ?? []).map((parameter) => renderField(parameter));
  const body = sampleBody(document, operation);
  const area =
    body === undefined
      ? ''
      : `<label>Body<textarea name="body" rows="${Math.min(14, body.split('\n').length + 1)}" spellcheck="false">${escapeHtml(body)}</textarea></label>`;
  return (
    `<details class="try"><summary>Try it</summary>` +
    `<form data-method="${method}" data-path="${escapeHtml(path)}" data-schemes="${schemesOf(operation).join(' ')}">` +
    `${fields.join('')}${area}<button>Send</button></form></details>`
  );
}

function renderField({ name, in: place, required = false }: Parameter): string {
  const label = `<code>${escapeHtml(name)}</code> <small>${escapeHtml(place)}</small>`;
  const mark = required ? ' required' : '';
  return `<label>${label}<input name="${escapeHtml(`${place}:${name}`)}" autocomplete="off" spellcheck="false"${mark}></label>`;
}
