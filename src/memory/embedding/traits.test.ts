import { expect, it } from 'vitest';
import { traitsOf } from './embedder.ts';

it.each([
  ['intfloat/multilingual-e5-small', 'query: ', 'query: '],
  ['multilingual-e5-large', 'query: ', 'query: '],
  ['e5-base-v2', 'query: ', 'query: '],
  ['nomic-embed-text:v1.5', 'search_query: ', 'search_document: '],
  ['snowflake-arctic-embed2', 'query: ', ''],
  ['intfloat/multilingual-e5-large-instruct', '', ''],
  ['intfloat/e5-mistral-7b-instruct', '', ''],
  ['text-embedding-3-small', '', ''],
  ['made5-up', '', ''],
])('%s expects %j and %j', (model, query, passage) => {
  expect(traitsOf(model)).toMatchObject({ query, passage });
});

it('gives the vectors of e5 another name than earlier versions, which used another prefix', () => {
  expect([traitsOf('multilingual-e5-small').suffix, traitsOf('text-embedding-3-small').suffix]).toEqual(['+2', '']);
});
