/** How well a search finds, on the labelled set: shares of answers among the first five and ten, and the place of the first. */
import { countTerms, createScorer, findFrequencies } from '#memory/search/entityindex.ts';
import { analyse } from '#memory/text.ts';
import { type Person, people } from './recall-set.fixture.ts';

export interface Recall {
  readonly at5: number;
  readonly at10: number;
  /** Mean reciprocal rank. */
  readonly mrr: number;
}

/** Contents, the best first. */
export type Search = (question: string, limit: number) => Promise<readonly string[]>;

export async function measureRecall(searchIn: (person: Person) => Promise<Search>): Promise<Recall> {
  const found: Recall[] = [];
  for (const person of people) {
    const search = await searchIn(person);
    for (const { question, answers } of person.questions) {
      const list = await search(question, 10);
      const share = (limit: number) =>
        answers.filter((answer) => list.slice(0, limit).includes(answer)).length / answers.length;
      const first = list.findIndex((content) => answers.includes(content));
      found.push({ at5: share(5), at10: share(10), mrr: first === -1 ? 0 : 1 / (first + 1) });
    }
  }
  const mean = (of: (recall: Recall) => number) => found.reduce((sum, recall) => sum + of(recall), 0) / found.length;
  return { at5: mean(({ at5 }) => at5), at10: mean(({ at10 }) => at10), mrr: mean(({ mrr }) => mrr) };
}

/** Returns the search terms of a text without stop words. */
export function termsOf(text: string): readonly string[] {
  return analyse(text).terms.flatMap(({ term, isStop }) => (isStop ? [] : [term]));
}

/** BM25 with stems and stop words, and nothing else. */
export const bm25: (person: Pick<Person, 'memories'>) => Promise<Search> = async ({ memories }) => {
  const documents = memories.map((content) => ({ content, ...countTerms(termsOf(content)) }));
  const totalLength = documents.reduce((sum, { length }) => sum + length, 0);
  return async (question, limit) => {
    const terms = termsOf(question);
    const frequencies = await findFrequencies(documents, terms);
    return best(documents, createScorer({ documents: documents.length, totalLength, frequencies }, terms), limit);
  };
};

/** BM25+ on words as they stand, as full-text libraries for JavaScript score by default (k 1.2, b 0.7, d 0.5). */
export const rawWords: (person: Person) => Promise<Search> = async ({ memories }) => {
  const cut = (text: string) =>
    text
      .toLowerCase()
      .split(/[\s\p{P}]+/u)
      .filter((word) => word !== '');
  const documents = memories.map((content) => {
    const words = cut(content);
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { content, counts, length: words.length };
  });
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  return async (question, limit) => {
    const words = new Set(cut(question));
    const score = ({ counts, length }: { readonly counts: ReadonlyMap<string, number>; readonly length: number }) => {
      let sum = 0;
      for (const word of words) {
        const count = counts.get(word);
        if (count === undefined) continue;
        const having = documents.filter((document) => document.counts.has(word)).length;
        const idf = Math.log(1 + (documents.length - having + 0.5) / (having + 0.5));
        sum += idf * (0.5 + (count * 2.2) / (count + 1.2 * (1 - 0.7 + (0.7 * length) / average)));
      }
      return sum;
    };
    return best(documents, score, limit);
  };
};

function best<Document extends { readonly content: string }>(
  documents: readonly Document[],
  scoreOf: (document: Document) => number,
  limit: number,
): readonly string[] {
  return documents
    .map((document) => ({ content: document.content, score: scoreOf(document) }))
    .filter(({ score }) => score > 0)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, limit)
    .map(({ content }) => content);
}
