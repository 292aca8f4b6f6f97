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
    const cards = await compare('./content-service.ts', '/op/homecards/v2');
    const share = await compare('./share-service.ts', `/s/${'x'.repeat(22)}`);
    const against = 'a bare route with the same bytes, headers included';
    return [
      atMost(1.5, { goal: 'cards of the front page, by processor time', measured: cards, against }),
      // Half of the requests per second of a bare route.
      atMost(2, { goal: 'a cached page of a share, by processor time', measured: share, against }),
    ];
  },
};

async function compare(program: string, path: string) {
  const service = fork(fileURLToPath(new URL(program, import.meta.url)));
  try {
    const [ports] = await once(service, 'message');
    const cpuMs = async () => {
      const answered = once(service, 'message');
      service.send('cpu');
      const [spent] = await answered;
      return spent as number;
    };
    const ask = (port: number) => {
      const pool = new Pool(`http://127.0.0.1:${port}`, { connections: atOnce });
      return { cpuMs, work: () => askMany(pool, path) };
    };
    const spent = await compareCpu(9, { ours: ask(ports.ours), bare: ask(ports.bare) });
    return spent.ratio('ours', 'bare');
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
