/** How models write Markdown: formulas, as the one way that its readers know, and tables that are not complete yet. */

/** No space inside the dollars, and no digit after them, so that “$5 and $10” stays a text. */
const inline = /(?<![\w$\\])\$(?![\s$])([^$]*[^\s$\\])\$(?![\d$])/g;

export const hasFormula = (text: string): boolean =>
  ['$$', '\\(', '\\['].some((mark) => text.includes(mark)) || text.split('\n').some((line) => line.search(inline) >= 0);

/** `\\(…\\)`, `\\[…\\]`, `$…$` and whole lines in `$$`, outside of code. */
export function withDollars(text: string): string {
  let isCode = false;
  return text
    .split('\n')
    .map((line) => {
      const trimmed = line.trim();
      if (trimmed.startsWith('```')) isCode = !isCode;
      if (isCode || trimmed.startsWith('```')) return line;
      const inner = trimmed.slice(2, -2);
      if (isWrapped(trimmed, '$$', '$$') && !inner.includes('$$')) return `$$\n${inner}\n$$`;
      if (isWrapped(trimmed, '\\[', '\\]')) return `$$\n${inner}\n$$`;
      if (trimmed === '\\[' || trimmed === '\\]') return '$$';
      return line
        .split('`')
        .map((part, place) =>
          place % 2 === 0 ? part.replace(/\\[()[\]]/g, () => '$$').replace(inline, (_, inner) => `$$${inner}$$`) : part,
        )
        .join('`');
    })
    .join('\n');
}

const isWrapped = (line: string, start: string, end: string): boolean =>
  line.length > start.length + end.length && line.startsWith(start) && line.endsWith(end);

/** Completes the head of a table while it is written, so that it is shown as a table, and not as its characters. */
export function withTableHead(text: string): string {
  const start = text.lastIndexOf('\n\n') + 1;
  const [head = '', line = '', ...more] = text.slice(start).trimStart().split('\n');
  const isHead = head.startsWith('|') && more.length === 0 && /^[\s:|-]*$/.test(line);
  // An odd number of fences: the text ends in code.
  if (!isHead || text.split('```').length % 2 === 0) return text;
  const cells = head.split('|').length - (head.trimEnd().endsWith('|') && head.trim() !== '|' ? 2 : 1);
  return `${text.slice(0, start)}\n${head}\n${'|---'.repeat(cells)}|`;
}
