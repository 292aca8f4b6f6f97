/** Runs benchmarks one after the other, prints each row when it is measured, and ends with a table of all. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Entry, Outcome } from './bench.ts';
import type { Message } from './one.ts';

/** Several times what the slowest benchmark takes on two processors. */
const usualDeadlineMs = 20 * 60_000;

type Result = (Outcome | { readonly goal: string; readonly fault: string }) & { readonly bench: string };

export interface Writing {
  readonly write: (line: string) => void;
}

/**
 * `list`: the URL of a module that exports `benches`. `words`: `name[:part]` each; none for all. Returns the exit code: 1 if a row is
 * outside its bound, 2 if no benchmark has such a name, otherwise 0.
 */
export async function runBenches(list: string, words: readonly string[], { write }: Writing): Promise<0 | 1 | 2> {
  const { benches } = (await import(list)) as { readonly benches: readonly Entry[] };
  const chosen = choose(benches, words);
  if (chosen.length === 0) {
    write(`No benchmark has this name. Choose one of: ${benches.map(({ name }) => name).join(', ')}.`);
    return 2;
  }
  const results: Result[] = [];
  for (const { entry, part } of chosen) {
    write(entry.name);
    const add = (result: Result) => {
      results.push(result);
      write(`  ${lineOf(result)}`);
    };
    await runAlone(list, entry, part, add);
  }
  write(`\n${tableOf(results)}`);
  const count = (outcome: string) => results.filter((result) => outcomeOf(result) === outcome).length;
  write(
    `${count('yes')} within the bound, ${count('NO')} outside, ${count('skipped')} skipped, ${count('broken')} broken. ` +
      `Medians of interleaved rounds; load of the machine over the last minute: ${(loadavg()[0] ?? 0).toFixed(1)}.`,
  );
  return count('NO') === 0 ? 0 : 1;
}

function choose(benches: readonly Entry[], words: readonly string[]) {
  const named = words.map((word) => word.split(':'));
  return benches.flatMap((entry) => {
    const found = named.length === 0 ? [] : named.find(([word = '']) => entry.name.startsWith(word));
    return found === undefined ? [] : [{ entry, part: found[1] ?? '' }];
  });
}

/**
 * Each benchmark has its own process, because memory that an earlier one has grown makes each start of a child and each collection
 * slower. It leads a process group, so that its children end with it.
 */
async function runAlone(list: string, entry: Entry, part: string, add: (result: Result) => void): Promise<void> {
  const program = fileURLToPath(new URL('one.ts', import.meta.url));
  const child = fork(program, [list, entry.name, part], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const endGroup = () => end(child);
  const interrupt = (signal: NodeJS.Signals) => {
    endGroup();
    process.kill(process.pid, signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, interrupt);
  const deadlineMs = entry.deadlineMs ?? usualDeadlineMs;
  let fault: string | undefined = 'it ended before its last row';
  const deadline = setTimeout(() => {
    fault = `it took longer than ${deadlineMs / 1000} s`;
    endGroup();
  }, deadlineMs);
  child.on('message', (message: Message) => {
    if (message === 'done') fault = undefined;
    else if ('fault' in message) fault = message.fault;
    else add({ bench: entry.name, ...message });
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(deadline);
  for (const signal of signals) process.off(signal, interrupt);
  endGroup();
  if (fault === undefined) return;
  const how = code === 0 || signal === 'SIGKILL' ? '' : ` (exit code ${code ?? signal})`;
  add({ bench: entry.name, goal: 'the rest', fault: `${fault}${how}` });
}

/** Ends the group of a benchmark: itself if it hangs, and what it has started. */
function end({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // None of them is left.
  }
}

function outcomeOf(result: Result): 'yes' | 'NO' | 'skipped' | 'broken' {
  if ('fault' in result) return 'broken';
  if ('skipped' in result) return 'skipped';
  return result.holds ? 'yes' : 'NO';
}

const short = (measured: number) => String(Number(measured.toPrecision(3)));

function lineOf(result: Result): string {
  if ('fault' in result) return `broken: ${result.fault}`;
  if ('skipped' in result) return `skipped: ${result.goal}. ${result.skipped}`;
  const { goal, measured, bound, against, holds } = result;
  return `${holds ? 'yes' : 'NO '} ${short(measured)} (${bound}): ${goal}, against ${against}`;
}

function tableOf(results: readonly Result[]): string {
  const heads = ['benchmark', 'goal', 'measured', 'bound', 'holds', 'against'];
  const cells = results.map((result) => {
    const outcome = outcomeOf(result);
    if ('fault' in result) return [result.bench, result.goal, '', '', outcome, result.fault];
    if ('skipped' in result) return [result.bench, result.goal, '', '', outcome, result.skipped];
    return [result.bench, result.goal, short(result.measured), result.bound, outcome, result.against];
  });
  const widths = heads.map((head, column) =>
    Math.max(...[head, ...cells.map((row) => row[column] ?? '')].map((cell) => cell.length)),
  );
  return [heads, ...cells]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
