/** What makes two wordings one without any comparison of meanings: case, width, spaces, the mark at the end. */
import { hash } from 'node:crypto';

/** A question mark stays: what is asked is not said. Nothing but marks stays as it is. */
function normaliseContent(content: string): string {
  const plain = content.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
  return plain.replace(/(?<![\s.!,;:…。！、，；：])[\s.!,;:…。！、，；：]+$/u, '') || plain || content;
}

/** SHA-256. */
export function hashContent(content: string): Buffer {
  return hash('sha256', normaliseContent(content), 'buffer');
}
