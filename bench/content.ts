/** A public content endpoint against a bare route that returns the same bytes. */
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
    const service = fork(fileURLToPath(new URL('./content-service.ts', import.meta.url)));
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
        return { cpuMs, work: () => askMany(pool) };
      };
      const spent = await compareCpu(9, { ours: ask(ports.ours), bare: ask(ports.bare) });
      return [
        atMost(1.5, {
          goal: 'cards of the front page, by processor time',
          measured: spent.ratio('ours', 'bare'),
          against: 'a bare route with the same bytes, headers included',
        }),
      ];
    } finally {
      service.kill();
    }
  },
};

async function askMany(pool: Pool): Promise<void> {
  let left = requests;
  const askOn = async () => {
    while (left-- > 0) {
      const { body } = await pool.request({
        method: 'GET',
        path: '/op/homecards/v2',
        headers: { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' },
      });
      await body.dump();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askOn));
}
