/** The faults of the soak, by name. Each ends before its promise resolves. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Certificate, makeCertificate, makeExpiredCertificate } from '../certificate.fixture.ts';
import { canSetClock } from '../clock.fixture.ts';
import type { LossyRedis, Postgres } from './engines.ts';
import type { Network } from './network.ts';
import type { Suite } from './suites.ts';

/** One process, and its own way to each engine. */
export interface Node {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly suite: Suite;
  readonly toPostgres: Network;
  readonly toRedis: Network;
}

export interface Faults {
  readonly nodes: readonly Node[];
  readonly postgres: Postgres;
  readonly redis: LossyRedis;
  readonly toS3: Network;
  /** `undefined`: this machine lacks `faketime`. */
  readonly clock: { readonly file: string; readonly valid: Certificate; readonly expired: Certificate } | undefined;
  readonly onRedisEmptied: () => void;
}

export type Fault = readonly [name: string, strike: () => Promise<void>];

/** What a machine needs for the faults of clocks and certificates. The certificates are for 127.0.0.1. */
export async function prepareClock(folder: string): Promise<Faults['clock']> {
  if (!canSetClock) return undefined;
  const file = join(folder, 'clock');
  await writeFile(file, '+0');
  const certificate = (name: string) => ({
    certificateFile: join(folder, `${name}.crt`),
    keyFile: join(folder, `${name}.key`),
  });
  const [valid, expired] = [certificate('valid'), certificate('expired')];
  makeCertificate(['IP:127.0.0.1'], valid);
  makeExpiredCertificate(['IP:127.0.0.1'], expired);
  return { file, valid, expired };
}

/** Longer than the lease of a run, so that the other process takes its runs over. */
const partitionMs = 45_000;

export function faultsOf({ nodes, postgres, redis, toS3, clock, onRedisEmptied }: Faults): readonly Fault[] {
  const { fillDisk } = postgres;
  return [
    ...nodes.flatMap(faultsOfNode),
    [
      'Redis restarts, empty',
      async () => {
        onRedisEmptied();
        await redis.restart();
      },
    ],
    ['S3 is cut off for 4 s', () => cutting(toS3, 4000)],
    ['S3 does not respond for 10 s', () => freezing([toS3], 10_000)],
    ['PostgreSQL restarts', postgres.restart],
    ...(fillDisk ? [['the disk of PostgreSQL is full for 5 s', () => fillDisk(5)] as const] : []),
    ...(clock
      ? [
          [
            'the clock of one process jumps 5 minutes ahead, and back after 10 s',
            () => jumping(clock.file, '+5m'),
          ] as const,
          [
            'the clock of one process jumps 5 minutes back, and ahead after 10 s',
            () => jumping(clock.file, '-5m'),
          ] as const,
          [
            'the certificate of Redis has expired for 10 s',
            async () => {
              for (const { toRedis } of nodes) toRedis.present(clock.expired);
              await sleep(10_000);
              for (const { toRedis } of nodes) toRedis.present(clock.valid);
            },
          ] as const,
        ]
      : []),
  ];
}

function faultsOfNode({ name, suite, toPostgres, toRedis }: Node): readonly Fault[] {
  return [
    [
      `${name} is killed`,
      async () => {
        await suite.kill();
        await sleep(1000);
        await suite.start();
      },
    ],
    [`${name} is partitioned from PostgreSQL`, () => freezing([toPostgres], partitionMs)],
    [`${name} is partitioned from Redis`, () => freezing([toRedis], partitionMs)],
    [`${name} is partitioned from PostgreSQL and Redis`, () => freezing([toPostgres, toRedis], partitionMs)],
  ];
}

async function cutting(network: Network, ms: number): Promise<void> {
  network.cut();
  await sleep(ms);
  network.mend();
}

async function freezing(networks: readonly Network[], ms: number): Promise<void> {
  for (const network of networks) network.freeze();
  await sleep(ms);
  for (const network of networks) network.mend();
}

async function jumping(file: string, offset: string): Promise<void> {
  await writeFile(file, offset);
  await sleep(10_000);
  await writeFile(file, '+0');
}
