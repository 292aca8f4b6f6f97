/** What a model expects before a text, by its name; from the models' own descriptions. */

export interface Prefixes {
  /** Before what is looked for. */
  readonly query: string;
  /** Before what is kept. */
  readonly passage: string;
}

const none: Prefixes = { query: '', passage: '' };

/** The first that fits counts. */
const known: readonly (readonly [name: RegExp, prefixes: Prefixes])[] = [
  // Such as multilingual-e5-large-instruct and e5-mistral: they take a task instead.
  [/instruct|mistral/i, none],
  [/(?:^|[/_-])e5[_-]/i, { query: 'query: ', passage: 'passage: ' }],
  [/nomic-embed-text/i, { query: 'search_query: ', passage: 'search_document: ' }],
  [/arctic-embed(?:2|-[ml]-v2)/i, { query: 'query: ', passage: '' }],
];

export function prefixesOf(model: string): Prefixes {
  return known.find(([name]) => name.test(model))?.[1] ?? none;
}
