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
