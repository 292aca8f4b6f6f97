/** Runs the benchmark `name` of the list in the module `list`, and sends each of its rows to the parent. */
import { promisify } from 'node:util';
import { type Entry, type Outcome, skipWithout } from './bench.ts';

const [list = '', name = '', part = ''] = process.argv.slice(2);
const { benches } = (await import(list)) as { readonly benches: readonly Entry[] };
const entry = benches.find((candidate) => candidate.name === name);
if (entry === undefined || process.send === undefined) throw new Error(`${list} has no benchmark ${name}`);

export type Message = Outcome | { readonly fault: string } | 'done';
const send = promisify<Message, void>(process.send.bind(process));

try {
  const skipped = await skipWithout('all rows', ...(entry.needs ?? []));
  if (skipped !== undefined) await send(skipped);
  else for await (const outcome of await (await entry.load()).run(part)) await send(outcome);
  await send('done');
} catch (error) {
  console.error(error);
  await send({ fault: error instanceof Error ? error.message : String(error) });
}
// Servers of the benchmark may be open.
process.exit();
