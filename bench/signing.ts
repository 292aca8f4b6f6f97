/** Signing 200 refs: what the service adds to a bare route, and what its cache saves. By the server's processor time. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atLeast, atMost, type Bench, type Row } from './bench.ts';
import { compareCpu } from './rounds.ts';

export const signing: Bench = { run };

interface ChildMessage {
  readonly engine: string;
  readonly token: string;
  readonly refs: readonly string[];
  readonly ports: Readonly<Record<'bare' | 'uncached' | 'cached', number>>;
}

const rounds = 31;
/** After 12 rounds, V8 has not compiled all of it: the bare route then takes twice as long. */
const warmUpRounds = 60;
const callsPerRound = 20;

async function run(): Promise<Row[]> {
  const child = fork(fileURLToPath(new URL('signing-service.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [place] = (await once(child, 'message')) as [ChildMessage];
  const cpuMs = async () => {
    const answer = once(child, 'message');
    child.send('cpu');
    return ((await answer) as [{ cpuMs: number }])[0].cpuMs;
  };
  const calls = (way: keyof ChildMessage['ports']) => ({
    work: async () => {
      for (let call = 0; call < callsPerRound; call++) await sign(place, way);
    },
    cpuMs,
  });
  try {
    const cases = { bare: calls('bare'), uncached: calls('uncached'), cached: calls('cached') };
    const cpu = await compareCpu(rounds, cases, warmUpRounds);
    return [
      atMost(1.3, {
        goal: `200 refs uncached, on ${place.engine}`,
        measured: cpu.ratio('uncached', 'bare'),
        against: 'a bare route with the same token check, query and signatures',
      }),
      atMost(2, {
        goal: `200 refs uncached, ms of processor time, on ${place.engine}`,
        measured: cpu.median('uncached') / callsPerRound,
        against: 'two thirds of what it took before',
      }),
      atLeast(4, {
        goal: `200 refs cached in process, on ${place.engine}`,
        measured: cpu.ratio('uncached', 'cached'),
        against: 'the same uncached',
      }),
    ];
  } finally {
    child.disconnect();
  }
}

async function sign({ ports, token, refs }: ChildMessage, way: keyof ChildMessage['ports']): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${ports[way]}/v1/sign/image`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ refs }),
  });
  const body = (await answer.json()) as Record<string, { ready: boolean }>;
  if (Object.values(body).filter(({ ready }) => ready).length !== refs.length)
    throw new Error(`${way}: not all signed`);
}
