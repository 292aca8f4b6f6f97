/** The tables of docs/security.md: which server code calls which server, and with whose rights. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../acceptance/running.fixture.ts';

export interface CallRow {
  /** Relative to src/. */
  readonly file: string;
  readonly service: string;
  /** For example `POST /v1/uploads`. */
  readonly endpoint: string;
  readonly rights: 'user' | 'server' | 'operator' | 'none';
}

const text = readFileSync(join(root, 'docs/security.md'), 'utf8');

export const calls: readonly CallRow[] = rowsOf('Calls between services').map(
  ([file = '', service = '', endpoint = '', rights = '']) => ({
    file,
    service,
    endpoint,
    rights: rights as CallRow['rights'],
  }),
);

/** Files below src/ that make other requests, or clients for them. */
export const otherRequests: readonly string[] = rowsOf('Other requests').flatMap(([files = '']) => files.split(', '));

/** Returns cells without code marks. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const lines = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}
