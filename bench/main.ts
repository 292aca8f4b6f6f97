/**
 * `npm run bench [name…]`: runs the benchmarks and prints a row each; exit code 1 when one is outside its bound. The
 * peers that they measure against have a package of their own: `npm ci --prefix bench`.
 */
import type { Row } from './bench.ts';
import { presign } from './presign.ts';

const benches = [presign];

const named = process.argv.slice(2);
const rows: Row[] = [];
for (const { name, run } of benches) {
  if (named.length > 0 && !named.includes(name)) continue;
  for (const row of await run()) {
    rows.push(row);
    const verdict = row.holds ? 'holds' : 'FAILS';
    console.log(`${verdict}  ${name}: ${row.goal}: ${row.measured.toFixed(2)} (${row.bound}) against ${row.against}`);
  }
}
process.exit(rows.every(({ holds }) => holds) ? 0 : 1);
