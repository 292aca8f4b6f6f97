/** The prefixes that models expect before a text, by model name, according to the models' documentation. */

export interface Prefixes {
  /** Before a search query. */
  readonly query: string;
  /** Before a stored text. */
  readonly passage: string;
}

const none: Prefixes = { query: '', passage: '' };

/** The first match applies. */
const known: readonly (readonly [name: RegExp, prefixes: Prefixes])[] = [
  // For example, multilingual-e5-large-instruct and e5-mistral expect a task instead.
  [/instruct|mistral/i, none],
  [/(?:^|[/_-])e5[_-]/i, { query: 'query: ', passage: 'passage: ' }],
  [/nomic-embed-text/i, { query: 'search_query: ', passage: 'search_document: ' }],
  [/arctic-embed(?:2|-[ml]-v2)/i, { query: 'query: ', passage: '' }],
];

export function prefixesOf(model: string): Prefixes {
  return known.find(([name]) => name.test(model))?.[1] ?? none;
}
