import { expect, it } from 'vitest';
import { prefixesOf } from './prefixes.ts';

it.each([
  ['intfloat/multilingual-e5-small', 'query: ', 'passage: '],
  ['multilingual-e5-large', 'query: ', 'passage: '],
  ['e5-base-v2', 'query: ', 'passage: '],
  ['nomic-embed-text:v1.5', 'search_query: ', 'search_document: '],
  ['snowflake-arctic-embed2', 'query: ', ''],
  ['intfloat/multilingual-e5-large-instruct', '', ''],
  ['intfloat/e5-mistral-7b-instruct', '', ''],
  ['text-embedding-3-small', '', ''],
  ['made5-up', '', ''],
])('%s expects %j and %j', (model, query, passage) => {
  expect(prefixesOf(model)).toEqual({ query, passage });
});
