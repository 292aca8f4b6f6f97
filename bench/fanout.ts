/** Many readers of one stream: how fast all of it reaches all of them, and what that costs the server, as a ratio. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median } from './bench.ts';

export const eventsPerRun = 2000;
export const readersAtOnce = 100;
/** Of each event. */
export const textOfEvent = 'about as much as a model says at a time, thrice';
const rounds = 3;
const warmUpRounds = 1;

/** Where the readers of this round go. */
export interface Place {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a server of streams does on a message with its name, in a process of its own; it answers each with a message. */
export interface StreamServer {
  /** A stream that has not begun. */
  open(): Promise<Place>;
  /** Has it say all its events; answers once it is over. */
  say(): Promise<unknown>;
  close(): Promise<unknown>;
}

export interface Contender {
  ask<Answer>(command: keyof StreamServer | 'cpuMicros' | 'heldBytes'): Promise<Answer>;
  stop(): Promise<void>;
}

export interface FanOut {
  readonly deliveriesPerSecond: number;
  readonly cpuPerDelivery: number;
}

/** How many times as good the first is as the second: medians of rounds in turns. Arguments go to the processes. */
export async function compareFanOut(ours: readonly string[], theirs: readonly string[]): Promise<FanOut> {
  const contenders = await Promise.all([start(ours), start(theirs)]);
  const ratios: { ms: number[]; cpu: number[] } = { ms: [], cpu: [] };
  try {
    for (let round = -warmUpRounds; round < rounds; round++) {
      const [our, their] = [await fanOut(contenders[0]), await fanOut(contenders[1])];
      if (round < 0) continue;
      ratios.ms.push(their.ms / our.ms);
      ratios.cpu.push(their.cpuMicros / our.cpuMicros);
    }
  } finally {
    await Promise.all(contenders.map(({ stop }) => stop()));
  }
  return { deliveriesPerSecond: median(ratios.ms), cpuPerDelivery: median(ratios.cpu) };
}

/** A process of its own, in which garbage can be collected when asked. */
export async function start(
  [file = '', ...args]: readonly string[],
  /** `processor`: the only one that the process may use. */
  { processor }: { readonly processor?: number } = {},
): Promise<Contender> {
  const flags = [...process.execArgv, '--expose-gc'];
  const pinned = { execPath: 'taskset', execArgv: ['-c', String(processor), process.execPath, ...flags] };
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    ...(processor === undefined ? { execArgv: flags } : pinned),
  });
  await answerOf(child);
  return {
    async ask(command) {
      child.send(command);
      return answerOf(child);
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

async function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  const [{ answer }] = await once(child, 'message');
  return answer;
}

/** From the release of the first event until the last reader has read the last one. */
async function fanOut({ ask }: Contender): Promise<{ ms: number; cpuMicros: number }> {
  const place = await ask<Place>('open');
  const readers = await Promise.all(Array.from({ length: readersAtOnce }, () => read(place)));
  // A connected reader may not be subscribed yet.
  await sleep(300);
  const cpuBefore = await ask<number>('cpuMicros');
  const startedAtMs = performance.now();
  const sent = ask('say');
  await Promise.all(readers.map(({ complete }) => complete));
  const ms = performance.now() - startedAtMs;
  await sent;
  await Promise.all(readers.map(({ closed }) => closed));
  return { ms, cpuMicros: (await ask<number>('cpuMicros')) - cpuBefore };
}

const mark = Buffer.from(textOfEvent);

interface Reader {
  /** All events have come. */
  readonly complete: Promise<void>;
  readonly closed: Promise<unknown>;
}

/** Once its head is there. */
async function read({ url, headers = {} }: Place): Promise<Reader> {
  const call = request(url, { agent: false, headers: { ...headers } }).end();
  const [response] = await once(call, 'response');
  if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`);
  const { promise: complete, resolve, reject } = Promise.withResolvers<void>();
  const closed = once(response, 'end');
  let [count, rest] = [0, Buffer.alloc(0)];
  response.on('data', (piece: Buffer) => {
    const bytes = Buffer.concat([rest, piece]);
    let from = 0;
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, from)) {
      count += 1;
      from = at + mark.length;
    }
    rest = bytes.subarray(Math.max(from, bytes.length - mark.length + 1));
    if (count >= eventsPerRun) resolve();
  });
  closed.then(() => reject(new Error(`a reader got ${count} events of ${eventsPerRun}`)));
  return { complete, closed };
}
