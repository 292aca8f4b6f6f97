/** What a model expects before a text, by its name; from the models' own descriptions. */

export interface Prefixes {
  /** Before what is looked for. */
  readonly query: string;
  /** Before what is kept. */
  readonly passage: string;
}

const none: Prefixes = { query: '', passage: '' };

const known: readonly (readonly [name: RegExp, prefixes: Prefixes])[] = [
  // e5 without instructions; e5-mistral and multilingual-e5-large-instruct take a task instead.
  [/(?:^|[/_-])e5[_-](?!mistral)(?!.*instruct)/i, { query: 'query: ', passage: 'passage: ' }],
  [/nomic-embed-text/i, { query: 'search_query: ', passage: 'search_document: ' }],
  [/snowflake-arctic-embed.*v2|arctic-embed2/i, { query: 'query: ', passage: '' }],
];

export function prefixesOf(model: string): Prefixes {
  return known.find(([name]) => name.test(model))?.[1] ?? none;
}
