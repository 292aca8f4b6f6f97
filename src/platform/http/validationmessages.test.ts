import { expect, it } from 'vitest';
import { z } from 'zod';
import { validationMessage } from './server.ts';

const one = z.enum(['image', 'video']);
const addresses = z.union([z.string().min(3), z.array(z.string())]);

const table: [string, z.ZodType, unknown, string][] = [
  ['nothing given', z.string(), undefined, 'is required'],
  ['nothing given for a choice', one, undefined, 'is required'],
  ['nothing given for a union', addresses, undefined, 'is required'],
  ['another type', z.string(), 5, 'must be a string'],
  ['a fraction', z.int(), 1.5, 'must be an integer'],
  ['null', z.looseObject({}), null, 'must be an object'],
  ['an unknown choice', one, 'audio', 'must be image or video'],
  ['another literal', z.literal('user'), 'me', 'must be user'],
  ['an empty string', z.string().min(1), '', 'must not be empty'],
  ['an empty list', z.array(z.string()).min(1), [], 'must not be empty'],
  ['a short string', z.string().min(3), 'a', 'must be at least 3 characters long'],
  ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'must be at most 1 entry long'],
  ['a small number', z.number().min(1), 0, 'must be at least 1'],
  ['a large number', z.number().max(9), 10, 'must be at most 9'],
  ['no type of a union', addresses, 5, 'must be a string or an array'],
  ['one type of a union', addresses, 'a', 'must be at least 3 characters long'],
  ['an entry in one type of a union', addresses, ['a', 5], '1: must be a string'],
  ['no UUID', z.uuid(), 'x', 'must be a UUID'],
  ['no UUID of any version', z.guid(), 'x', 'must be a UUID'],
  ['what the schema words itself', z.string().min(3, 'is too short to be a name'), 'a', 'is too short to be a name'],
];

it.each(table)('%s', (_case, schema, input, words) => {
  const { error } = schema.safeParse(input, { error: validationMessage });
  expect(error?.issues.map((issue) => issue.message)).toEqual([words]);
});
