/** Public pages against a bare route that returns the same bytes. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { atMost, type Bench } from './bench.ts';
import { compareCpu } from './rounds.ts';

/** A round of fewer measures the compiler. */
const requests = 5000;
const atOnce = 16;

export const content: Bench = {
  run: async () => {
    const cards = await compare('./content-service.ts', '', '/op/homecards/v2');
    const share = await compare('./public-service.ts', 'share', `/s/${'x'.repeat(22)}`);
    const gallery = await compare('./public-service.ts', 'gallery', '/op/gallery');
    const against = 'a bare route with the same bytes, headers included';
    return [
      atMost(1.5, { goal: 'cards of the front page, by processor time', measured: cards.cpu, against }),
      // Half of the requests per second of a bare route.
      atMost(2, { goal: 'a cached page of a share, by processor time', measured: share.cpu, against }),
      atMost(2, { goal: 'a cached page of the gallery, by processor time', measured: gallery.cpu, against }),
      // The pages are read again when they are a second old.
      ...Object.entries({ share, gallery }).map(([name, { callsPerS }]) =>
        atMost(1, {
          goal: `calls a second for a page of ${name}`,
          measured: callsPerS,
          against: 'one a second and key',
        }),
      ),
    ];
  },
};

interface Spent {
  readonly cpuMs: number;
  readonly calls: number;
}

async function compare(program: string, kind: string, path: string) {
  const service = fork(fileURLToPath(new URL(program, import.meta.url)), [kind]);
  try {
    const [ports] = await once(service, 'message');
    const read = async (): Promise<Spent> => {
      const answered = once(service, 'message');
      service.send('spent');
      const [spent] = await answered;
      return spent;
    };
    const cpuMs = async () => (await read()).cpuMs;
    const ask = (port: number) => {
      const pool = new Pool(`http://127.0.0.1:${port}`, { connections: atOnce });
      return { cpuMs, work: () => askMany(pool, path) };
    };
    const began = performance.now();
    const before = (await read()).calls;
    const spent = await compareCpu(9, { ours: ask(ports.ours), bare: ask(ports.bare) });
    const callsPerS = ((await read()).calls - before) / ((performance.now() - began) / 1000);
    return { cpu: spent.ratio('ours', 'bare'), callsPerS };
  } finally {
    service.kill();
  }
}

async function askMany(pool: Pool, path: string): Promise<void> {
  let left = requests;
  const askOn = async () => {
    while (left-- > 0) {
      const { body } = await pool.request({
        method: 'GET',
        path,
        headers: { accept: 'text/html', 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' },
      });
      await body.dump();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askOn));
}
