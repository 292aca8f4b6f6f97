/** The responses in the pages match docs/openapi.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ApiDocument, Operation, Schema } from '#platform/http/apidocument.ts';
import { openApiPath } from '../../tools/generate/apisurface.ts';
import { root } from '../acceptance/running.fixture.ts';
import { blocks, withTag } from './blocks.fixture.ts';

const { paths = {}, components }: ApiDocument = JSON.parse(readFileSync(join(root, openApiPath), 'utf8'));
const operations: readonly Operation[] = Object.values(paths).flatMap((methods) => Object.values(methods));

/** Returns the schema of a response: of the first status of success, or of the named error. */
function schemaOf(response: string): Schema | undefined {
  const [operationId, error] = response.split(' ');
  const responses = operations.find((operation) => operation.operationId === operationId)?.responses ?? {};
  const status = error ?? Object.keys(responses).find((each) => each.startsWith('2')) ?? '';
  const { $ref = '', content } = responses[status] ?? {};
  const shared = components?.responses?.[$ref.replace('#/components/responses/', '')];
  return (content ?? shared?.content)?.['application/json']?.schema;
}

/** Zod resolves references below `$defs`. */
function parserOf(schema: Schema): z.ZodType {
  const shared = JSON.stringify({ ...schema, $defs: components?.schemas });
  return z.fromJSONSchema(JSON.parse(shared.replaceAll('#/components/schemas/', '#/$defs/')));
}

const shown = blocks.filter(({ response }) => response !== undefined);

it('finds the responses of the pages, which are JSON', () => {
  expect(shown.length).toBeGreaterThan(5);
  expect(withTag('json')).toEqual(expect.arrayContaining(shown));
});

it.each(shown)('$page:$line is a response of $response', ({ response = '', text }) => {
  const schema = schemaOf(response);
  if (schema === undefined) throw new Error(`${response} has no JSON response`);
  expect(parserOf(schema).safeParse(JSON.parse(text)).error?.issues).toBeUndefined();
});

it.each([
  ['a missing field', '{}'],
  ['a wrong type', '{ "forgotten": "3" }'],
  ['an unknown field', '{ "forgotten": 3, "kept": 1 }'],
])('rejects %s', (_name, text) => {
  expect(parserOf(schemaOf('forgetVariants') ?? {}).safeParse(JSON.parse(text)).success).toBe(false);
});
