/**
 * The operations and fields that the API has or had, one per line. Applications rely on them, so a line is never removed from the file:
 * docs/api-changelog.md must name each one that the API no longer has.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiDocument, Content, Operation, Schema } from '#platform/http/apidocument.ts';
import { root } from '../../test/acceptance/running.fixture.ts';

export const surfacePath = 'tools/generate/apisurface.txt';
export const openApiPath = 'docs/openapi.json';

const maxDepth = 8;

export function renderSurface(documents: Readonly<Record<string, ApiDocument>>): string {
  const path = join(root, surfacePath);
  const known = existsSync(path) ? linesOf(readFileSync(path, 'utf8')) : [];
  const lines = new Set([...known, ...Object.values(documents).flatMap(surfaceOf)]);
  return `${[...lines].sort().join('\n')}\n`;
}

export const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

/** `POST /v1/uploads`, `POST /v1/uploads body.kind`, `POST /v1/uploads 200.assetId`, `GET /v1/assets query.limit`. */
export function surfaceOf({ paths = {} }: ApiDocument): readonly string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      // A path can name its servers beside its operations.
      .filter(([method]) => method !== 'servers')
      .flatMap(([method, operation]) => {
        const name = `${method.toUpperCase()} ${path.replace(/#.*/, '')}`;
        return [name, ...fieldsOfOperation(operation).map((field) => `${name} ${field}`)];
      }),
  );
}

function fieldsOfOperation({ parameters = [], requestBody, responses = {} }: Operation): readonly string[] {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return [
    ...parameters.map(({ in: place, name }) => `${place}.${name}`),
    ...fieldsOfContent('body', requestBody?.content),
    ...successes.flatMap(([status, { content }]) => fieldsOfContent(status, content)),
  ];
}

const fieldsOfContent = (prefix: string, content: Content = {}) =>
  Object.values(content).flatMap(({ schema }) => fieldsOf(prefix, schema));

function fieldsOf(prefix: string, schema: Schema | undefined, depth = 0): readonly string[] {
  if (schema === undefined || depth > maxDepth) return [];
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  const own = Object.entries(properties).flatMap(([name, field]) => [
    `${prefix}.${name}`,
    ...fieldsOf(`${prefix}.${name}`, field, depth + 1),
  ]);
  const values = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return [
    ...own,
    ...fieldsOf(`${prefix}[]`, items, depth + 1),
    ...fieldsOf(`${prefix}.*`, values, depth + 1),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((part) => fieldsOf(prefix, part, depth + 1)),
  ];
}
