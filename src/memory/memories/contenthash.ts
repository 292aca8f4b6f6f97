/** A hash that is equal for contents that differ only in case, width, spaces or final punctuation. */
import { hash } from 'node:crypto';

/** Retains a question mark, because a question is not a statement. Leaves text of punctuation only unchanged. */
function normaliseContent(content: string): string {
  const plain = content.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
  return plain.replace(/(?<![\s.!,;:…。！、，；：])[\s.!,;:…。！、，；：]+$/u, '') || plain || content;
}

/** Returns the SHA-256 of the normalized content. */
export function hashContent(content: string): Buffer {
  return hash('sha256', normaliseContent(content), 'buffer');
}
