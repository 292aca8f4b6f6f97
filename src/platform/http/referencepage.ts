/** The reference page of a service as one HTML string, generated from its OpenAPI document. */
import { escapeHtml } from '../escaping.ts';
import type { ApiDocument, Operation, Parameter, ResponseObject, Schema } from './apidocument.ts';

export function renderReferencePage(referring: ApiDocument, css: string): string {
  const document = inline(referring);
  const { title, version, description } = document.info;
  const calls = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Call => ({ path, method: method.toUpperCase(), operation })),
  );
  const described = new Map(document.tags?.map(({ name, description }) => [name, description]));
  const groups = [...new Set([...described.keys(), ...calls.map(groupOf)])]
    .map((name) => ({
      name,
      description: described.get(name) ?? '',
      calls: calls.filter((call) => groupOf(call) === name),
    }))
    .filter((group) => group.calls.length > 0);
  const nav = groups.map(
    (group) => `<h2>${escapeHtml(group.name)}</h2><ul>${group.calls.map(renderLink).join('')}</ul>`,
  );
  const sections = groups.map(
    (group) =>
      `<h2>${escapeHtml(group.name)}</h2><p>${prose(group.description)}</p>` +
      group.calls.map(renderOperation).join(''),
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${css}</style><script src="docs/reference.js" defer></script></head>
<body><nav aria-label="Endpoints">${nav.join('')}</nav>
<main><h1>${escapeHtml(title)} <small>${escapeHtml(version)}</small></h1>
<p>${prose(description ?? '')}</p>
<p>The same as an OpenAPI 3.1 document: <a href="openapi.json">openapi.json</a>. Every error has <a href="#problem">the same fields</a>.</p>
${renderCredentials(calls)}
${sections.join('\n')}
<h2 id="problem">Errors</h2><p>Every error is JSON with these fields. The codes are stable. The messages can change.</p>
${renderSchema(document.components?.schemas?.Problem)}
</main></body></html>
`;
}

/** Puts the components in the place of the references to them. */
function inline(document: ApiDocument): ApiDocument {
  const components: object = { ...document.components?.schemas, ...document.components?.responses };
  const named = (reference: string) => Reflect.get(components, reference.split('/').at(-1) ?? '');
  return JSON.parse(JSON.stringify(document), (_, value) => (value?.$ref === undefined ? value : named(value.$ref)));
}

const groupOf = ({ operation }: Call) => operation.tags?.[0] ?? 'endpoints';

const renderLink = ({ method, path, operation }: Call) =>
  `<li><a href="#${anchor(method, path)}"${operation.summary === undefined ? '' : ` title="${escapeHtml(operation.summary)}"`}>` +
  `${badge(method)}<code>${escapeHtml(path)}</code></a></li>`;

const credentialNames: Readonly<Record<string, readonly [label: string, header: string]>> = {
  accessToken: ['Access token', '<code>Authorization: Bearer</code> with an access token'],
  internalKey: ['Internal key', '<code>X-Internal-Key</code>'],
  adminToken: ['Admin token', '<code>X-Admin-Token</code>'],
  sessionCookie: ['Session cookie', 'the session cookie of the browser'],
};

/** The credentials that the forms of the page send. reference.js reads them and stores them nowhere. */
function renderCredentials(calls: readonly Call[]): string {
  const schemes = new Set(calls.flatMap(({ operation }) => schemesOf(operation)));
  schemes.delete('sessionCookie');
  if (schemes.size === 0) return '';
  const fields = [...schemes].map(
    (scheme) =>
      `<label>${credentialNames[scheme]?.[0] ?? escapeHtml(scheme)}<input type="password" name="${escapeHtml(scheme)}" autocomplete="off"></label>`,
  );
  return (
    `<form id="credentials" aria-label="Credentials"><p>The forms below send one of these credentials to this service only. ` +
    `They are not stored.</p>${fields.join('')}</form>`
  );
}

function renderOperation(call: Call): string {
  const { method, path, operation } = call;
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const parts = [
    operation.summary === undefined ? '' : `<p class="summary">${prose(operation.summary)}</p>`,
    operation.description === undefined ? '' : `<p>${prose(operation.description)}</p>`,
    `<p class="credential">${credential(operation)}</p>`,
    operation.parameters?.length ? `<h4>Parameters</h4>${renderParameters(operation.parameters)}` : '',
    body === undefined ? '' : `<h4>Body</h4>${renderSchema(body)}`,
    `<h4>Example</h4>${renderCurl(call)}`,
    hasForm(call) ? renderForm(call) : '',
    `<h4>Responses</h4><dl>${renderSuccesses(operation)}</dl>`,
    renderErrors(operation),
  ];
  return `<section id="${anchor(method, path)}"><h3>${badge(method)}<code>${escapeHtml(path)}</code></h3>${parts.join('')}</section>`;
}

function credential(operation: Operation): string {
  const names = schemesOf(operation);
  if (names.length === 0) return 'No credential.';
  return `Credential: ${names.map((name) => credentialNames[name]?.[1] ?? escapeHtml(name)).join(', or ')}.`;
}

function renderParameters(parameters: readonly Parameter[]): string {
  const rows = parameters.map((parameter) =>
    renderRow(`${escapeHtml(parameter.name)} <small>${escapeHtml(parameter.in)}</small>`, parameter.required ?? false, {
      ...parameter.schema,
      description: parameter.description ?? parameter.schema?.description,
    }),
  );
  return `<table>${rows.join('')}</table>`;
}

const isError = (status: string) => !/^[23]/.test(status);

function renderSuccesses(operation: Operation): string {
  return Object.entries(operation.responses ?? {})
    .filter(([status]) => !isError(status))
    .map(([status, { description = '', content = {} }]) => {
      const [type, media] = Object.entries(content)[0] ?? [];
      const kind = type === undefined || type === 'application/json' ? '' : ` <code>${escapeHtml(type)}</code>`;
      const shape = type === 'application/json' ? renderSchema(media?.schema) : '';
      const sample =
        shape === '' || isStream(operation)
          ? ''
          : `<details><summary>Example</summary><pre tabindex="0"><code>${escapeHtml(JSON.stringify(sampleOf(media?.schema), null, 2))}</code></pre></details>`;
      return `<dt>${escapeHtml(status)}</dt><dd>${prose(description)}${kind}${shape}${sample}</dd>`;
    })
    .join('');
}

/** The codes of an operation. Those that only the service itself can cause come last, as their statuses are the highest. */
function renderErrors({ responses = {} }: Operation): string {
  const rows = Object.entries(responses)
    .filter(([status]) => isError(status))
    .flatMap(([status, response]) => codesOf(response).map((code) => renderCode(status, code)));
  if (rows.length === 0) return '';
  return `<details class="errors"><summary>Errors (${rows.length})</summary><table>${rows.join('')}</table></details>`;
}

function renderCode(status: string, [code, message]: readonly [string, string]): string {
  return `<tr><th scope="row">${escapeHtml(status)} <code>${escapeHtml(code)}</code></th><td>${prose(message)}</td></tr>`;
}

function codesOf({ content }: ResponseObject): readonly (readonly [string, string])[] {
  return Object.entries(content?.['application/json']?.examples ?? {}).map(([code, { value }]) => [
    code,
    String(Reflect.get(Object(value), 'message')),
  ]);
}

const badge = (method: string) =>
  `<span class="method ${escapeHtml(method.toLowerCase())}">${escapeHtml(method)}</span>`;
const anchor = (method: string, path: string) =>
  escapeHtml(`${method}${path}`.toLowerCase().replace(/[^a-z0-9]+/g, '-'));

// The request of an operation on the reference page: as a curl command, and as a form that sends it (reference.js).

interface Call {
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

const schemesOf = ({ security = [] }: Operation) => security.flatMap((schemes) => Object.keys(schemes));

const isStream = ({ responses = {} }: Operation) =>
  Object.values(responses).some(({ content = {} }) => 'text/event-stream' in content);

function renderCurl({ method, path, operation }: Call): string {
  const scheme = schemesOf(operation)[0];
  const credential = scheme === undefined ? undefined : credentialHeaders[scheme];
  const body = sampleBody(operation);
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
function sampleBody({ requestBody }: Operation): string | undefined {
  const media = requestBody?.content?.['application/json'];
  if (media === undefined) return undefined;
  return JSON.stringify(media.example ?? sampleOf(media.schema), null, 2);
}

/** Signed URLs and redirects are not for a form. */
const hasForm = ({ operation: { tags = [], responses = {} } }: Call) =>
  !tags.includes('edge') && responses['302'] === undefined;

function renderForm(call: Call): string {
  const { method, path, operation } = call;
  const fields = (operation.parameters ?? []).map((parameter) => renderField(parameter));
  const body = sampleBody(operation);
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

// Schemas on the reference page: a table of the fields, with types in words. Also builds sample values.

/** Maximum depth of nested objects. It also ends recursive schemas. */
const maxDepth = 4;

/** Renders text between backticks as code. */
const prose = (raw: string) => escapeHtml(raw).replace(/`([^`]+)`/g, '<code>$1</code>');

const literal = (value: unknown) =>
  `<code>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</code>`;

/** Renders an object as a table of its fields, alternatives one below the other, and anything else as one line. */
function renderSchema(schema: Schema = {}, depth = 0): string {
  const lead = depth === 0 && !isPlainObject(schema) ? `<p>${describeType(schema)}</p>` : '';
  return depth >= maxDepth ? lead : lead + renderFields(schema, depth);
}

function renderFields(schema: Schema, depth: number): string {
  const variants = alternativesOf(schema).filter((variant) => containsFields(variant));
  if (variants.length > 0) {
    const labeled = variants.map((variant, index) => {
      const label = variants.length > 1 ? `<p class="variant">${labelOf(variant, index)}</p>` : '';
      return label + renderFields(variant, depth);
    });
    return labeled.join('');
  }
  if (schema.items !== undefined) return renderFields(schema.items, depth);
  if (typeof schema.additionalProperties === 'object') return renderFields(schema.additionalProperties, depth);
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return '';
  const rows = fields.map(([name, field]) =>
    renderRow(escapeHtml(name), schema.required?.includes(name) ?? false, field, depth),
  );
  return `<table>${rows.join('')}</table>`;
}

function renderRow(name: string, required: boolean, schema: Schema, depth = 0): string {
  const description = schema.description === undefined ? '' : `<br>${prose(schema.description)}`;
  const mark = required ? ' <small class="required">required</small>' : '';
  const nested = renderSchema(schema, depth + 1);
  const type = `<span class="type">${describeType(schema)}</span>`;
  return `<tr><th scope="row"><code>${name}</code>${mark}</th><td>${type}${description}${nested}</td></tr>`;
}

const isNull = ({ type }: Schema) => type === 'null';
const isPlainObject = ({ properties, items, additionalProperties }: Schema) =>
  properties !== undefined && items === undefined && typeof additionalProperties !== 'object';

/** The alternatives of a schema except for `null`. */
function alternativesOf({ anyOf, oneOf }: Schema): readonly Schema[] {
  return (anyOf ?? oneOf ?? []).filter((part) => !isNull(part));
}

function containsFields(schema: Schema): boolean {
  if (Object.keys(schema.properties ?? {}).length > 0) return true;
  if (schema.items !== undefined) return containsFields(schema.items);
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') return containsFields(additionalProperties);
  return alternativesOf(schema).some((variant) => containsFields(variant));
}

/** Names a variant by its constant field, if it has one: `ready` is `true`. */
function labelOf(variant: Schema, index: number): string {
  for (const [name, field] of Object.entries(variant.properties ?? {})) {
    const value = field.const;
    if (value !== undefined) return `If ${literal(name)} is ${literal(value)}:`;
  }
  return variant.description === undefined ? `Variant ${index + 1}:` : prose(variant.description);
}

function describeType(schema: Schema): string {
  const fallback = schema.default === undefined ? [] : [`default ${literal(schema.default)}`];
  return [nameType(schema), ...limitsOf(schema), ...fallback].join(', ');
}

function nameType(schema: Schema): string {
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return joinOr(schema.enum.map(literal));
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (parts !== undefined) {
    const names = parts.map((part) => describeType(part));
    const objects = names.filter((name) => name === 'object').length;
    const distinct = [...new Set(names)];
    return joinOr(distinct.map((name) => (name === 'object' && objects > 1 ? `one of ${objects} objects` : name)));
  }
  if (schema.items !== undefined) return `list of ${plural(describeType(schema.items))}`;
  if (typeof schema.additionalProperties === 'object') {
    const value = schema.additionalProperties;
    return Object.keys(value).length === 0 ? 'object' : `object with values: ${describeType(value)}`;
  }
  const format = schema.format === undefined ? '' : ` (${escapeHtml(schema.format)})`;
  return escapeHtml(joinOr([schema.type ?? 'any value'].flat())) + format;
}

const joinOr = (words: readonly string[]) =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

const plural = (type: string) => (/^(?:string|integer|number|boolean|object)$/.test(type) ? `${type}s` : type);

function limitsOf(schema: Schema): readonly string[] {
  const limits = [
    range('', schema.minimum, schema.maximum),
    range(' characters', schema.minLength, schema.maxLength),
    range(' entries', schema.minItems, schema.maxItems),
  ].filter((limit) => limit !== '');
  return schema.pattern !== undefined && schema.format === undefined
    ? [...limits, `matching ${literal(schema.pattern)}`]
    : limits;
}

/** Zod emits the limits of safe integers, which carry no information for the reader. */
function range(unit: string, min: number | undefined, max: number | undefined): string {
  const low = min === undefined || min <= Number.MIN_SAFE_INTEGER ? undefined : min;
  const high = max === undefined || max >= Number.MAX_SAFE_INTEGER ? undefined : max;
  if (low !== undefined && high !== undefined) return low === high ? `${low}${unit}` : `${low}–${high}${unit}`;
  if (low !== undefined) return low === 0 && unit !== '' ? '' : `at least ${low}${unit}`;
  return high === undefined ? '' : `at most ${high}${unit}`;
}

const samplesByFormat: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00.000Z',
  date: '2026-01-31',
  uuid: '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11',
  email: 'ada@example.com',
};

/** Returns a value that shows the shape of a schema. */
function sampleOf(schema: Schema = {}, depth = 0): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const [variant] = alternativesOf(schema);
  if (variant !== undefined) return sampleOf(variant, depth);
  const type = [schema.type ?? ''].flat()[0];
  if (type === 'array') return depth > maxDepth ? [] : [sampleOf(schema.items, depth + 1)];
  if (type === 'object') return depth > maxDepth ? {} : sampleObject(schema, depth);
  if (type === 'string') return samplesByFormat[schema.format ?? ''] ?? '…';
  if (type === 'integer' || type === 'number') return Math.max(1, schema.minimum ?? 1);
  return type === 'boolean' ? true : null;
}

function sampleObject({ properties = {}, additionalProperties }: Schema, depth: number): object {
  if (typeof additionalProperties === 'object') return { '…': sampleOf(additionalProperties, depth + 1) };
  const fields = Object.entries(properties);
  return Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field, depth + 1)]));
}
