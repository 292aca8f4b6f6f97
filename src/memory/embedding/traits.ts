/** What is known of models, by their names: the prefixes that they expect, and how their vectors are best compared. */

export interface ModelTraits {
  /** Before a search query, according to the documentation of the model. */
  readonly query: string;
  /** Before a stored text. */
  readonly passage: string;
  /** `Embedder.centering`. */
  readonly centering: number;
  /** `Embedder.searchWeight`. */
  readonly searchWeight: number;
  /** Part of the name of the embedder. Change it if stored vectors must be made again. */
  readonly suffix: string;
}

const plain: ModelTraits = { query: '', passage: '', centering: 0, searchWeight: 1, suffix: '' };

/** The first match applies. */
const known: readonly (readonly [name: RegExp, traits: ModelTraits])[] = [
  // For example, multilingual-e5-large-instruct and e5-mistral expect a task instead.
  [/instruct|mistral/i, plain],
  [
    /(?:^|[/_-])e5[_-]/i,
    // Memories are single statements, and `passage: ` is for articles: the documentation recommends `query: ` on both
    // sides for texts of one kind. Measured on the tuned half of test/memory/meaning.fixture.ts, as are the weights.
    { query: 'query: ', passage: 'query: ', centering: 0.5, searchWeight: 1.2, suffix: '+2' },
  ],
  [/nomic-embed-text/i, { ...plain, query: 'search_query: ', passage: 'search_document: ' }],
  [/arctic-embed(?:2|-[ml]-v2)/i, { ...plain, query: 'query: ' }],
];

export function traitsOf(model: string): ModelTraits {
  return known.find(([name]) => name.test(model))?.[1] ?? plain;
}
