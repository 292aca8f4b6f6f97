/**
 * `npm run bench [-- name[:part]…]`: runs the benchmarks and ends with a table; exit code 1 when a row is outside its bound. The
 * peers that they measure against have a package of their own in this folder.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Row } from './bench.ts';
import { benches } from './benches.ts';

const named = process.argv.slice(2).map((word) => word.split(':'));
const chosen = benches.flatMap(({ name }) => {
  const found = named.length === 0 ? [] : named.find(([word = '']) => name.startsWith(word));
  return found === undefined ? [] : [{ name, part: found[1] ?? '' }];
});
if (chosen.length === 0) {
  console.error(`There is no such benchmark; there are ${benches.map(({ name }) => name).join(', ')}.`);
  process.exit(1);
}

const rows: (Row & { readonly bench: string })[] = [];
for (const { name, part } of chosen) {
  console.error(`${name} …`);
  for (const row of await runAlone(name, part)) rows.push({ bench: name, ...row });
}
console.table(
  rows.map(({ bench, goal, measured, bound, against, holds }) => ({
    bench,
    goal,
    against,
    measured: Number(measured.toPrecision(3)),
    bound,
    holds: holds ? 'yes' : 'NO',
  })),
);
console.log(
  `Medians of interleaved rounds; load of the machine over the last minute: ${(loadavg()[0] ?? 0).toFixed(1)}.`,
);
process.exit(rows.every(({ holds }) => holds) ? 0 : 1);

/** In a process of its own: memory that an earlier one has grown makes each start of a child dearer, and each collection. */
async function runAlone(name: string, part: string): Promise<readonly Row[]> {
  const child = fork(fileURLToPath(new URL('one.ts', import.meta.url)), [name, part]);
  const ended = once(child, 'exit');
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [readonly Row[] | number | null];
  await ended;
  if (!Array.isArray(message)) throw new Error(`${name} broke off`);
  return message;
}
