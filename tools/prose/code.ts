/** Applies the rules to the texts in code that people read: problems, log lines, descriptions of the API, and the pages of the console. */
import { parseSync } from 'vite';
import { codeMask, findFaults } from './faults.ts';
import type { Found } from './markdown.ts';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** A literal is a text if it starts like a sentence and has at least two words, or has four words like a log line. */
const isText = (text: string) =>
  /^\s*\p{Lu}[\p{L}'’]* \S/u.test(text) || (/^[a-z]+(?:,? [a-z'’-]+){3,}/.test(text) && !isSql.test(text));
const isSql = /^(?:select|insert|update|delete|with|create|case|exists|from|not|and)\b|\b(?:is|as) (?:not )?null\b/;

/** Literals that are no texts: they are parts of an import, or code in backticks. */
const maskCode = (text: string) =>
  text.replaceAll(/`[^`]*`/g, (code) => codeMask.repeat(code.length)).replaceAll('\n', ' ');

export function lintCode(path: string, source: string): readonly Found[] {
  return textsOf(parseSync(path, source).program).flatMap(({ text, start }) =>
    findFaults(maskCode(text)).map(({ index, message }) => ({
      line: source.slice(0, start + index).split('\n').length,
      message,
    })),
  );
}

interface Text {
  readonly text: string;
  readonly start: number;
}

function textsOf(program: unknown): readonly Text[] {
  const found: Text[] = [];
  const queue: unknown[] = [program];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (!isObject(node)) continue;
    queue.push(...Object.values(node).toReversed());
    const text = textOf(node);
    if (text !== undefined && (node.type === 'JSXText' ? /\w \w/.test(text) : isText(text)))
      found.push({ text, start: Number(node.start) });
  }
  return found;
}

/** An expression within a template counts as one word. */
function textOf({ type, value, quasis }: Record<string, unknown>): string | undefined {
  if ((type === 'Literal' || type === 'JSXText') && typeof value === 'string') return value;
  if (type !== 'TemplateLiteral' || !Array.isArray(quasis)) return undefined;
  return quasis.map((quasi: { readonly value: { readonly raw: string } }) => quasi.value.raw).join(codeMask);
}
