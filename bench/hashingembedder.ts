/**
 * The embedder that was built in before the table: words and parts of words hashed into 1024 dimensions. `recall` compares
 * with it.
 */

import { type Embedder, normalise } from '../src/memory/embedding/embedder.ts';
import { languages } from '../src/memory/merging/languages/all.ts';
import { type Reading, read } from '../src/memory/merging/reading.ts';
import { hashText } from '../src/memory/text/hashing.ts';
import { analyse, type Term } from '../src/memory/text/terms.ts';

const listed = (lists: readonly string[]) => new Set(lists.flatMap((list) => list.split(', ')));
const firstPerson = listed(languages.map((language) => language.firstPerson));
const users = listed(languages.map((language) => language.users));
const persons = new Map(
  languages.flatMap(({ persons: lists = {} }) =>
    Object.entries(lists).flatMap(([person, list]) => list.split(', ').map((word) => [word, `<${person}>`] as const)),
  ),
);

const dimensions = 1024;
const stopWeight = 0.3;
const personWeight = 0.5;
/** Of all parts of a word together; the word itself has 1. */
const partsWeight = 0.4;

export function createHashingEmbedder(): Embedder {
  return {
    name: 'hashing',
    lexical: true,
    searchWeight: 0.2,
    centering: 0,
    embed: async (texts) => texts.map(embedContent),
    embedQuery: async (text) => embedQuery(text),
    close: async () => undefined,
  };
}

function embedContent(text: string): Float32Array {
  const vector = new Float32Array(dimensions);
  const reading = read(text);
  for (const { kind, value } of reading) if (kind === 'person') add(vector, `w ${value}`, personWeight);
  for (const { term, isStop } of analyse(wordsOf(reading)).terms) {
    add(vector, `w ${term}`, isStop ? stopWeight : 1);
    if (!isStop) addParts(vector, term, partsWeight);
  }
  // Nothing but numbers, signs or negations: alike is what is the same.
  if (vector.every((value) => value === 0)) add(vector, `t ${text.normalize('NFKC').trim()}`, 1);
  return normalise(vector);
}

/** As a text: characters of scripts without spaces stand together again, so that they are paired. */
function wordsOf(reading: Reading): string {
  let text = '';
  for (const { kind, value } of reading) {
    if (kind !== 'word') continue;
    const isUnspaced = unspaced.test(value);
    text += isUnspaced && unspaced.test(text.slice(-1)) ? value : ` ${value}`;
  }
  return text;
}

const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー々]$/u;

function embedQuery(text: string): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const term of analyse(text).terms) {
    if (term.isStop) continue;
    add(vector, `w ${canonical(term)}`, 1);
    addParts(vector, term.term, partsWeight);
  }
  return normalise(vector);
}

/** The same person is one feature in every form. */
function canonical({ word, term }: Term): string {
  if (firstPerson.has(word) || users.has(word)) return '<i>';
  return persons.get(word) ?? term;
}

function addParts(vector: Float32Array, term: string, weight: number): void {
  const letters = [...`^${term}$`];
  if (letters.length < 5) return;
  const parts = letters.slice(2).map((letter, index) => `${letters[index]}${letters[index + 1]}${letter}`);
  for (const part of parts) add(vector, `p ${part}`, weight / Math.sqrt(parts.length));
}

/** The sign halves what two features in one place do to each other. */
function add(vector: Float32Array, feature: string, weight: number): void {
  const hash = hashText(feature);
  const place = hash % dimensions;
  vector[place] = (vector[place] ?? 0) + (hash & 0x80000000 ? -weight : weight);
}
