/** The ways in which models write formulas, as the one that Markdown with formulas reads. */

export const hasFormula = (text: string): boolean => ['$$', '\\(', '\\['].some((mark) => text.includes(mark));

/** `\\(…\\)`, `\\[…\\]` and whole lines in `$$`, outside of code. */
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
        .map((part, place) => (place % 2 === 0 ? part.replace(/\\[()[\]]/g, () => '$$') : part))
        .join('`');
    })
    .join('\n');
}

const isWrapped = (line: string, start: string, end: string): boolean =>
  line.length > start.length + end.length && line.startsWith(start) && line.endsWith(end);
