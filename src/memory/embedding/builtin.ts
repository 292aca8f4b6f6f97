/**
 * The built-in embedder: hashes words into 1024 dimensions, no download, no state. It keeps stop words, at little weight,
 * for the sake of duplicates; negations, numbers and dates are left out or stand for each other, because what differs in
 * nothing else must be found as alike to be told apart by what differs (merging/judging.ts). Parts of words are hashed too,
 * so that a search finds what a stem misses. Searches weigh the query's terms by how telling they are among the entity's
 * memories, on the query's side alone, so that nothing is embedded anew when that changes.
 */
import { maskUnspaced } from '../merging/reading.ts';
import { dateWords, firstPerson, negations, numberWords, persons, users } from '../merging/tables.ts';
import { analyse, type Term } from '../text/terms.ts';
import { type Embedder, normalise } from './embedder.ts';

const dimensions = 1024;
const stopWeight = 0.3;
const personWeight = 0.5;
/** Of all parts of a word together; the word itself has 1. */
const partsWeight = 0.4;

export function createBuiltinEmbedder(): Embedder {
  return {
    name: 'builtin-1',
    lexical: true,
    searchWeight: 0.2,
    searchFloor: 0.08,
    embed: async (texts) => texts.map(embedContent),
    embedQuery: async (text, weightOf) => embedQuery(text, weightOf),
    close: async () => undefined,
  };
}

function embedContent(text: string): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const term of analyse(maskUnspaced(text.normalize('NFKC'))).terms) {
    const weight = weightOfTerm(term);
    if (weight === 0) continue;
    add(vector, `w ${canonical(term)}`, weight);
    if (weight === 1) addParts(vector, term.term, partsWeight);
  }
  // Nothing but numbers, signs or negations: alike is what is the same.
  if (vector.every((value) => value === 0)) add(vector, `t ${text.normalize('NFKC').trim()}`, 1);
  return normalise(vector);
}

function embedQuery(text: string, weightOf: (term: string) => number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const term of analyse(text).terms) {
    if (term.isStop) continue;
    const weight = weightOf(term.term);
    add(vector, `w ${canonical(term)}`, weight);
    addParts(vector, term.term, weight * partsWeight);
  }
  return normalise(vector);
}

function weightOfTerm({ word, isStop }: Term): number {
  if (negations.has(word) || /^[\p{N}.,:/-]+$/u.test(word)) return 0;
  if (numberWords.has(word) || dateWords.has(word)) return 0;
  // What is left of n't and of its verb.
  if (isStop && /^(?:do|does|did|don|doesn|didn|isn|aren|wasn|won|can|t|s)$/.test(word)) return 0;
  if (firstPerson.has(word) || persons.has(word) || users.has(word)) return personWeight;
  return isStop ? stopWeight : 1;
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
  const hash = fnv1a(feature);
  const place = hash % dimensions;
  vector[place] = (vector[place] ?? 0) + (hash & 0x80000000 ? -weight : weight);
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  // FNV's low bits are poor for texts that differ at the end; one more mix spreads them.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
