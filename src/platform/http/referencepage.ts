/** The reference page of a service as one HTML string, generated from its OpenAPI document. It has no scripts and loads nothing. */
import { escapeHtml } from '../escaping.ts';

/** The part of an OpenAPI 3.1 document that the page shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly responses?: Readonly<Record<string, ResponseObject>>;
  };
}

export interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses?: Readonly<Record<string, ResponseObject>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

interface ResponseObject {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

/** Maximum depth of nested objects. It also ends recursive schemas. */
const maxDepth = 4;

export function renderReferencePage(document: ApiDocument, css: string): string {
  const { title, version, description } = document.info;
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const isOperational = ({ operation }: { operation: Operation }) => operation.tags?.includes('operations') ?? false;
  const groups = [
    { name: 'Endpoints', operations: operations.filter((entry) => !isOperational(entry)) },
    { name: 'Operations', operations: operations.filter(isOperational) },
  ].filter((group) => group.operations.length > 0);
  const nav = groups.map(
    (group) =>
      `<h2>${escapeHtml(group.name)}</h2><ul>${group.operations
        .map(
          ({ method, path }) =>
            `<li><a href="#${anchor(method, path)}">${badge(method)}<code>${escapeHtml(path)}</code></a></li>`,
        )
        .join('')}</ul>`,
  );
  const sections = groups.map(
    (group) =>
      `<h2>${escapeHtml(group.name)}</h2>${group.operations
        .map(({ method, path, operation }) => renderOperation(document, method, path, operation))
        .join('')}`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${css}</style></head>
<body><nav aria-label="Endpoints">${nav.join('')}</nav>
<main><h1>${escapeHtml(title)} <small>${escapeHtml(version)}</small></h1>
<p>${prose(description ?? '')}</p><p>The same for machines: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
${sections.join('\n')}
<h2 id="problem">Problems</h2><p>Every failure has one shape.</p>${renderSchema(document, document.components?.schemas?.Problem)}
</main></body></html>
`;
}

function renderOperation(document: ApiDocument, method: string, path: string, operation: Operation): string {
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const parts = [
    operation.summary === undefined ? '' : `<p class="summary">${prose(operation.summary)}</p>`,
    operation.description === undefined ? '' : `<p>${prose(operation.description)}</p>`,
    `<p class="credential">${credential(operation)}</p>`,
    operation.parameters?.length ? `<h4>Parameters</h4>${renderParameters(document, operation.parameters)}` : '',
    body === undefined ? '' : `<h4>Body</h4>${renderSchema(document, body)}`,
    `<h4>Answers</h4><dl>${renderResponses(document, operation)}</dl>`,
  ];
  return `<section id="${anchor(method, path)}"><h3>${badge(method)}<code>${escapeHtml(path)}</code></h3>${parts.join('')}</section>`;
}

const credentialWords: Readonly<Record<string, string>> = {
  internalKey: '<code>X-Internal-Key</code>',
  adminToken: '<code>X-Admin-Token</code>',
};

function credential(operation: Operation): string {
  const names = (operation.security ?? []).flatMap((alternative) => Object.keys(alternative));
  if (names.length === 0) return 'No credential.';
  const words = names.map((name) => credentialWords[name] ?? '<code>Authorization: Bearer</code> access token');
  return `Credential: ${words.join(' or ')}.`;
}

function renderParameters(document: ApiDocument, parameters: readonly Parameter[]): string {
  const rows = parameters.map((parameter) =>
    row(`${parameter.name} <small>${escapeHtml(parameter.in)}</small>`, parameter.required ?? false, document, {
      ...parameter.schema,
      description: parameter.description ?? parameter.schema?.description,
    }),
  );
  return `<table>${rows.join('')}</table>`;
}

function renderResponses(document: ApiDocument, operation: Operation): string {
  return Object.entries(operation.responses ?? {})
    .map(([status, response]) => {
      if (response.$ref !== undefined) return `<dt>otherwise</dt><dd><a href="#problem">A problem</a>.</dd>`;
      const schema = Object.values(response.content ?? {})[0]?.schema;
      const description = response.description === 'Default Response' ? '' : escapeHtml(response.description ?? '');
      return `<dt>${escapeHtml(status)}</dt><dd>${description}${schema === undefined ? '' : renderSchema(document, schema)}</dd>`;
    })
    .join('');
}

/** Renders an object as a table of its fields, and anything else as one line. */
function renderSchema(document: ApiDocument, reference: Schema | undefined, depth = 0): string {
  const schema = resolve(document, reference);
  const inner = schema.type === 'array' ? resolve(document, schema.items) : schema;
  const fields = Object.entries(inner.properties ?? {});
  if (fields.length === 0 || depth >= maxDepth) return depth === 0 ? `<p>${describeType(document, schema)}</p>` : '';
  const rows = fields.map(([name, field]) =>
    row(escapeHtml(name), inner.required?.includes(name) ?? false, document, resolve(document, field), depth),
  );
  const lead = depth === 0 && schema.type === 'array' ? `<p>${describeType(document, schema)}</p>` : '';
  return `${lead}<table>${rows.join('')}</table>`;
}

function row(name: string, required: boolean, document: ApiDocument, schema: Schema, depth = 0): string {
  const description = schema.description === undefined ? '' : `<br>${prose(schema.description)}`;
  const variants = schema.anyOf ?? schema.oneOf ?? [];
  const nested = [schema, ...variants].map((part) => renderSchema(document, part, depth + 1)).join('');
  const mark = required ? '<b title="required">*</b>' : '';
  return `<tr><th scope="row"><code>${name}</code>${mark}</th><td>${describeType(document, schema)}${description}${nested}</td></tr>`;
}

function describeType(document: ApiDocument, reference: Schema | undefined): string {
  const schema = resolve(document, reference);
  const fallback = schema.default === undefined ? [] : [`default ${literal(schema.default)}`];
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return [`one of ${schema.enum.map(literal).join(', ')}`, ...fallback].join('; ');
  const variants = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (variants !== undefined) return variants.map((variant) => describeType(document, variant)).join(' or ');
  const type = [schema.type ?? 'any'].flat().join(' or ');
  const of = schema.items === undefined ? '' : ` of ${describeType(document, schema.items)}`;
  const map =
    typeof schema.additionalProperties === 'object' ? ` of ${describeType(document, schema.additionalProperties)}` : '';
  const format = schema.format === undefined ? '' : ` (${escapeHtml(schema.format)})`;
  const limits = [
    range('', schema.minimum, schema.maximum),
    range(' characters', schema.minLength, schema.maxLength),
    range(' entries', schema.minItems, schema.maxItems),
  ].filter((limit) => limit !== '');
  if (schema.pattern !== undefined && schema.format === undefined) limits.push(`matching ${literal(schema.pattern)}`);
  return [`${escapeHtml(type)}${of}${map}${format}`, ...limits, ...fallback].join(', ');
}

/** Zod emits the limits of safe integers, which carry no information for the reader. */
function range(unit: string, min: number | undefined, max: number | undefined): string {
  const low = min === undefined || min <= Number.MIN_SAFE_INTEGER ? undefined : min;
  const high = max === undefined || max >= Number.MAX_SAFE_INTEGER ? undefined : max;
  if (low !== undefined && high !== undefined) return low === high ? `${low}${unit}` : `${low}–${high}${unit}`;
  if (low !== undefined) return low === 0 && unit !== '' ? '' : `at least ${low}${unit}`;
  return high === undefined ? '' : `at most ${high}${unit}`;
}

function resolve(document: ApiDocument, schema: Schema | undefined): Schema {
  const name = schema?.$ref?.split('/').at(-1);
  return (name === undefined ? schema : document.components?.schemas?.[name]) ?? {};
}

const literal = (value: unknown) =>
  `<code>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</code>`;
const badge = (method: string) =>
  `<span class="method ${escapeHtml(method.toLowerCase())}">${escapeHtml(method)}</span>`;
const anchor = (method: string, path: string) =>
  escapeHtml(`${method}${path}`.toLowerCase().replace(/[^a-z0-9]+/g, '-'));

/** Renders text between backticks as code. */
const prose = (raw: string) => escapeHtml(raw).replace(/`([^`]+)`/g, '<code>$1</code>');
