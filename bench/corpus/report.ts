/** What the answers come to: a table by format, and the anomalies. */
import { extname } from 'node:path';
import type { Answer } from './journey.ts';

const slowMs = 30_000;

interface Row {
  readonly format: string;
  readonly result: string;
  files: number;
  slowest_ms: number;
}

/** By format and by how the file ended: all well, or the first answer that was not. */
export function tableOf(answers: readonly Answer[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const [file, steps] of Map.groupBy(answers, (answer) => answer.file)) {
    const format = extname(file).toLowerCase() || 'none';
    const refused = steps.find(({ status, isDocumented }) => !isDocumented || status >= 300);
    const result = refused === undefined ? 'all 2xx' : `${refused.step} ${refused.status} ${refused.code}`;
    const name = `${format} ${result}`;
    const row = rows.get(name) ?? { format, result, files: 0, slowest_ms: 0 };
    row.files += 1;
    row.slowest_ms = Math.round(Math.max(row.slowest_ms, ...steps.map(({ ms }) => ms)));
    rows.set(name, row);
  }
  return [...rows.entries()].sort(([one], [other]) => one.localeCompare(other)).map(([, row]) => row);
}

export function anomaliesOf(answers: readonly Answer[]): readonly Answer[] {
  return answers.filter(({ isDocumented, ms }) => !isDocumented || ms > slowMs);
}
