/** The words of messages: the first title of a thread, and the texts that the search looks through. */
import type { UIMessage } from 'ai';
import { searchable } from '#platform/searching.ts';

type Parts = UIMessage['parts'];

/** Of a title, in Unicode code points. */
const maxTitleLength = 60;
const wholeWords = new RegExp(`^(.{1,${maxTitleLength}})\\s`, 'u');

/** The first words of a message, or the name of its first file. Empty if it has neither. */
export function firstWords(parts: Parts): string {
  const words = textsOf(parts).join(' ').replace(/\s+/g, ' ').trim();
  if (words !== '') return cut(words);
  const filename = parts.find((part) => part.type === 'file' && part.filename !== undefined);
  return filename?.type === 'file' ? cut((filename.filename ?? '').trim()) : '';
}

function cut(words: string): string {
  const characters = [...words];
  if (characters.length <= maxTitleLength) return words;
  return wholeWords.exec(words)?.[1] ?? characters.slice(0, maxTitleLength).join('');
}

/** The texts of a message as they are stored for the search. */
export function searchText(parts: Parts): string {
  return searchable(textsOf(parts).join(' '));
}

const textsOf = (parts: Parts) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
