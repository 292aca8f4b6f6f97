/** Schemas on the reference page: a table of the fields, with types in words. Also builds sample values. */
import { escapeHtml } from '../escaping.ts';
import type { ApiDocument, Schema } from './apidocument.ts';

/** Maximum depth of nested objects. It also ends recursive schemas. */
const maxDepth = 4;

/** Renders text between backticks as code. */
export const prose = (raw: string) => escapeHtml(raw).replace(/`([^`]+)`/g, '<code>$1</code>');

export const literal = (value: unknown) =>
  `<code>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</code>`;

export function resolve(document: ApiDocument, schema: Schema | undefined): Schema {
  const name = schema?.$ref?.split('/').at(-1);
  return (name === undefined ? schema : document.components?.schemas?.[name]) ?? {};
}

/** Renders an object as a table of its fields, alternatives one below the other, and anything else as one line. */
export function renderSchema(document: ApiDocument, reference: Schema | undefined, depth = 0): string {
  const schema = resolve(document, reference);
  const lead = depth === 0 && !isPlainObject(schema) ? `<p>${describeType(document, schema)}</p>` : '';
  return depth >= maxDepth ? lead : lead + renderFields(document, schema, depth);
}

function renderFields(document: ApiDocument, schema: Schema, depth: number): string {
  const variants = alternativesOf(document, schema).filter((variant) => containsFields(document, variant));
  if (variants.length > 0) {
    const labeled = variants.map((variant, index) => {
      const label = variants.length > 1 ? `<p class="variant">${labelOf(document, variant, index)}</p>` : '';
      return label + renderFields(document, variant, depth);
    });
    return labeled.join('');
  }
  if (schema.items !== undefined) return renderFields(document, resolve(document, schema.items), depth);
  if (typeof schema.additionalProperties === 'object')
    return renderFields(document, resolve(document, schema.additionalProperties), depth);
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return '';
  const rows = fields.map(([name, field]) =>
    renderRow(escapeHtml(name), schema.required?.includes(name) ?? false, document, resolve(document, field), depth),
  );
  return `<table>${rows.join('')}</table>`;
}

export function renderRow(name: string, required: boolean, document: ApiDocument, schema: Schema, depth = 0): string {
  const description = schema.description === undefined ? '' : `<br>${prose(schema.description)}`;
  const mark = required ? ' <small class="required">required</small>' : '';
  const nested = renderSchema(document, schema, depth + 1);
  const type = `<span class="type">${describeType(document, schema)}</span>`;
  return `<tr><th scope="row"><code>${name}</code>${mark}</th><td>${type}${description}${nested}</td></tr>`;
}

const isNull = ({ type }: Schema) => type === 'null';
const isPlainObject = ({ properties, items, additionalProperties }: Schema) =>
  properties !== undefined && items === undefined && typeof additionalProperties !== 'object';

/** The alternatives of a schema except for `null`. */
function alternativesOf(document: ApiDocument, { anyOf, oneOf }: Schema): readonly Schema[] {
  return (anyOf ?? oneOf ?? []).map((part) => resolve(document, part)).filter((part) => !isNull(part));
}

function containsFields(document: ApiDocument, schema: Schema): boolean {
  if (Object.keys(schema.properties ?? {}).length > 0) return true;
  if (schema.items !== undefined) return containsFields(document, resolve(document, schema.items));
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object')
    return containsFields(document, resolve(document, additionalProperties));
  return alternativesOf(document, schema).some((variant) => containsFields(document, variant));
}

/** Names a variant by its constant field, if it has one: `ready` is `true`. */
function labelOf(document: ApiDocument, variant: Schema, index: number): string {
  for (const [name, field] of Object.entries(variant.properties ?? {})) {
    const value = resolve(document, field).const;
    if (value !== undefined) return `If ${literal(name)} is ${literal(value)}:`;
  }
  return variant.description === undefined ? `Variant ${index + 1}:` : prose(variant.description);
}

export function describeType(document: ApiDocument, reference: Schema | undefined): string {
  const schema = resolve(document, reference);
  const fallback = schema.default === undefined ? [] : [`default ${literal(schema.default)}`];
  return [nameType(document, schema), ...limitsOf(schema), ...fallback].join(', ');
}

function nameType(document: ApiDocument, schema: Schema): string {
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return joinOr(schema.enum.map(literal));
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (parts !== undefined) {
    const names = parts.map((part) => describeType(document, part));
    const objects = names.filter((name) => name === 'object').length;
    const distinct = [...new Set(names)];
    return joinOr(distinct.map((name) => (name === 'object' && objects > 1 ? `one of ${objects} objects` : name)));
  }
  if (schema.items !== undefined) return `list of ${plural(describeType(document, schema.items))}`;
  if (typeof schema.additionalProperties === 'object') {
    const value = resolve(document, schema.additionalProperties);
    return Object.keys(value).length === 0 ? 'object' : `object with values: ${describeType(document, value)}`;
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
export function sampleOf(document: ApiDocument, reference: Schema | undefined, depth = 0): unknown {
  const schema = resolve(document, reference);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const [variant] = alternativesOf(document, schema);
  if (variant !== undefined) return sampleOf(document, variant, depth);
  const type = [schema.type ?? ''].flat()[0];
  if (type === 'array') return depth > maxDepth ? [] : [sampleOf(document, schema.items, depth + 1)];
  if (type === 'object') return depth > maxDepth ? {} : sampleObject(document, schema, depth);
  if (type === 'string') return samplesByFormat[schema.format ?? ''] ?? '…';
  if (type === 'integer' || type === 'number') return Math.max(1, schema.minimum ?? 1);
  return type === 'boolean' ? true : null;
}

function sampleObject(document: ApiDocument, { properties = {}, additionalProperties }: Schema, depth: number): object {
  if (typeof additionalProperties === 'object') return { '…': sampleOf(document, additionalProperties, depth + 1) };
  const fields = Object.entries(properties);
  return Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(document, field, depth + 1)]));
}
