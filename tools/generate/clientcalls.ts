/** Generates the client's functions and types from the OpenAPI documents of the services. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { ClientFunction } from '#platform/http/apidocument.ts';
import { root } from '../../test/acceptance/running.fixture.ts';
import { type Endpoint, endpointOf, operationsIn } from './endpoints.ts';
import { commentOf, type Schema, shapesOf } from './shapes.ts';

interface Operation {
  readonly operationId?: string;
  readonly 'x-client'?: ClientFunction;
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly 'x-client-types'?: Readonly<Record<string, readonly string[]>>;
}

export function writeService(name: string, document: ApiDocument) {
  const operations = [...operationsIn(document)];
  const schemas = new Map<string, Schema>();
  const define = (type: string | undefined, schema: Schema | undefined, of: string) => {
    if ((type === undefined) !== (schema === undefined))
      throw new Error(`${of}: a type without a name, or a name without`);
    if (type === undefined || schema === undefined) return;
    schemas.set(type, schemas.get(type) ?? schema);
  };
  for (const [key, operation] of operations) {
    const endpoint = endpointOf(key, operation);
    if (endpoint.kind === 'foreign') continue;
    define(endpoint.body, jsonOf(operation.requestBody), key);
    define(endpoint.query, queryOf(operation), key);
    define(endpoint.answer, answerOf(operation), key);
  }
  for (const [part, [whole = '', ...path]] of Object.entries(document['x-client-types'] ?? {})) {
    const found = path.reduce<unknown>((at, step) => Reflect.get(Object(at), step), schemas.get(whole));
    schemas.set(part, found as Schema);
  }
  const shapes = shapesOf(schemas);
  const types = [...schemas.keys()].map(shapes.declare);
  const functions = operations.map(([key, operation]) =>
    writeFunction(key, operation, endpointOf(key, operation), shapes.render),
  );
  return {
    api: format(`${headOf(name, 'The vocabulary')}\n\n${types.join('\n\n')}\n`),
    calls: format(writeCalls(name, functions, [...schemas.keys()])),
  };
}

/** Generates docs/client-functions.md. */
export function listFunctions(name: string, document: ApiDocument): string {
  const own = [...operationsIn(document)].filter(([, operation]) => operation['x-client']?.kind !== 'foreign');
  const rows = own.map(([key, operation]) => {
    const endpoint = endpointOf(key, operation);
    const again = endpoint.kind === 'address' ? '' : isRepeatable(key, endpoint) ? 'yes' : 'no';
    const path = key.replaceAll(/\{(\w+)\}/g, ':$1');
    return `| \`${name}.${endpoint.name}\` | \`${path}\` | ${isKeyed(operation) ? 'with a key' : again} | ${operation.summary} |`;
  });
  return [`## ${name}`, '', '| function | endpoint | retried | purpose |', '|---|---|---|---|', ...rows, ''].join('\n');
}

const isRepeatable = (key: string, { repeatable }: Endpoint) => !key.startsWith('POST ') || repeatable === true;

const isKeyed = (operation: Operation) =>
  operation.parameters?.some((parameter) => parameter.in === 'header' && parameter.name === 'idempotency-key') ?? false;

const headOf = (name: string, what: string) =>
  `/** ${what} of the ${name} service. Generated from its OpenAPI document by \`npm run generate\`. */`;

function writeCalls(name: string, functions: readonly string[], types: readonly string[]): string {
  const body = functions.join('\n\n');
  const code = body.replaceAll(/\/\*\*.*?\*\//g, '');
  const used = (names: readonly string[]) => names.filter((word) => new RegExp(`\\b${word}\\b`).test(code)).sort();
  const values = used(['addressOf', 'callFile', 'callJson', 'callText', 'callVoid', 'queryOf', 'keyed']);
  const kinds = ['Access', ...used(['CallOptions', 'KeyedOptions'])].map((kind) => `type ${kind}`);
  const Name = name[0]?.toUpperCase() + name.slice(1);
  const streams = body.includes('followRun')
    ? "import type { RunChunk } from '../chunks.ts';\nimport { followRun } from '../run.ts';\n"
    : '';
  const events = body.includes('followEvents')
    ? "import { type EventsOptions, followEvents, type UserEvent } from '../userevents.ts';\n"
    : '';
  return `${headOf(name, 'The calls')}
import { ${[...kinds, ...values].join(', ')} } from '../calling.ts';
${streams}import { operationsOf } from '../operations.ts';
${events}import type { ${used(types).join(', ')} } from './api.ts';

export type ${Name}Calls = ReturnType<typeof ${name}Calls>;

export function ${name}Calls(access: Access) {
  return {
    ...operationsOf(access),
    ${body}
  };
}
`;
}

function writeFunction(
  key: string,
  operation: Operation,
  endpoint: Endpoint,
  render: (schema: Schema) => string,
): string {
  const [method = '', path = ''] = key.split(' ');
  const { name, body, query, answer, kind, cookies } = endpoint;
  if (kind === 'foreign') return '';
  const parameters = operation.parameters ?? [];
  const keyed = isKeyed(operation);
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const mayBeEmpty = parameters.every((parameter) => parameter.in !== 'query' || !parameter.required);
  const args = [
    ...inPath.map((parameter) => `${camel(parameter.name)}: ${render(parameter.schema)}`),
    ...(body === undefined ? [] : [`body: ${body}`]),
    ...(query === undefined ? [] : [`query${mayBeEmpty ? '?' : ''}: ${query}`]),
  ];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, word) => `\${encodeURIComponent(${camel(word)})}`);
  const written = filled === path ? `'${path}'` : `\`${filled}\``;
  const comment = commentOf(`${operation.summary} (\`${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}\`).`);
  if (kind === 'address')
    return `${comment}${name}: (${args.join(', ')}): string => addressOf(access, \`${filled}\${queryOf(query)}\`),`;
  if (kind === 'stream')
    return `${comment}${name}: (${args.join(', ')}, options?: Pick<CallOptions, 'signal'>): AsyncGenerator<RunChunk> =>
      followRun(access, ${inPath.map((parameter) => camel(parameter.name)).join(', ')}, options?.signal),`;
  if (kind === 'events')
    return `${comment}${name}: (options?: EventsOptions): AsyncGenerator<UserEvent> => followEvents(access, options),`;
  const call = [
    `method: '${method}'`,
    `path: ${written}`,
    ...(query === undefined ? [] : ['query']),
    ...(body === undefined ? [] : ['body']),
    keyed ? '...keyed(options)' : `repeatable: ${isRepeatable(key, endpoint)}`,
    ...(cookies ? ['cookies: true'] : []),
  ];
  const [caller, promised] =
    kind === 'page'
      ? ['callText', 'string']
      : kind === 'file'
        ? ['callFile', 'Blob']
        : answer
          ? ['callJson', answer]
          : ['callVoid', 'void'];
  const options = `options?: ${keyed ? 'KeyedOptions' : 'CallOptions'}`;
  return `${comment}${name}: (${[...args, options].join(', ')}): Promise<${promised}> =>
    ${caller}(access, { ${call.join(', ')} }, options),`;
}

const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const jsonOf = (content: Content | undefined): Schema | undefined => content?.content?.['application/json']?.schema;

/** Returns the schema of the successful response. 200 and 201 have the same. */
function answerOf({ responses }: Operation): Schema | undefined {
  const found = Object.entries(responses).flatMap(([status, content]) => {
    const schema = status.startsWith('2') ? jsonOf(content) : undefined;
    return schema === undefined ? [] : [schema];
  });
  const [first, ...others] = found.map(({ description: _, ...schema }) => schema);
  if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first)))
    throw new Error(`answers of two kinds: ${JSON.stringify(found)}`);
  return first;
}

function queryOf({ parameters = [] }: Operation): Schema | undefined {
  const queryParameters = parameters.filter((parameter) => parameter.in === 'query');
  if (queryParameters.length === 0) return undefined;
  return {
    type: 'object',
    properties: Object.fromEntries(
      queryParameters.map(({ name, schema, description }) => [
        name,
        { ...schema, ...(description && { description }) },
      ]),
    ),
    required: queryParameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** Formats the text as `npm run check` requires. */
export function format(text: string): string {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const words = [biome, 'check', '--write', '--stdin-file-path=src/client/written.ts'];
  const { stdout, stderr, status } = spawnSync(process.execPath, words, { cwd: root, input: text, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${stderr}\n${text}`);
  return stdout;
}
