/** Hashes of terms, and of whole contents. */
import { hash } from 'node:crypto';

/** Returns an evenly distributed hash of 32 bits, for terms and features. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  // FNV's low bits are poor for texts that differ at the end, so the hash is mixed again.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

// A hash that is equal for contents that differ only in case, width, spaces or final punctuation.

/** Retains a question mark, because a question is not a statement. Leaves text of punctuation only unchanged. */
function normaliseContent(content: string): string {
  const plain = content.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
  return plain.replace(/(?<![\s.!,;:…。！、，；：])[\s.!,;:…。！、，；：]+$/u, '') || plain || content;
}

/** Returns the SHA-256 of the normalized content. */
export function hashContent(content: string): Buffer {
  return hash('sha256', normaliseContent(content), 'buffer');
}
