/**
 * Allows one process per service if PostgreSQL is shared and Redis is absent (docs/specification/system.md#processes), because
 * in-memory caches are valid only while no other process changes their data. A second process of a service is refused at its
 * start. A process that loses its lease, because the database did not respond or the process was suspended, returns 503 until it
 * holds the lease again, and then starts with empty caches.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform/db/db.ts';
import { createLeases, type Leases, type LeasesOptions, type LeaseTables } from '#platform/db/lease.ts';
import { type Closers, StartFault } from '#platform/lifecycle.ts';
import type { Log } from '#platform/log.ts';

export interface ServiceLease {
  isHeld(): boolean;
  /** Called when the lease is held again. Other processes may have changed any data in the meantime. */
  onReturn(listener: () => Promise<void>): void;
}

const askAgainEveryMs = 1000;

/** Throws StartFault if one of `services` runs elsewhere. Waits up to 15 s for the lease of a dead process to expire. */
export async function acquireServiceLeases<Service extends string>(
  services: readonly Service[],
  database: Database,
  log: Log,
  closers: Closers,
  times: Pick<LeasesOptions, 'ttlMs' | 'renewEveryMs'> = {},
): Promise<ReadonlyMap<Service, ServiceLease>> {
  const leases = createLeases({ db: database.queries<LeaseTables>(), log, ...times });
  const closing = new AbortController();
  closers.add('leases', async () => {
    closing.abort();
    await leases.close();
  });
  const taken = await Promise.all(
    services.map(async (service) => [service, await acquireServiceLease(service, leases, closing.signal)] as const),
  );
  return new Map(taken);
}

const leaseOf = (service: string) => `service/${service}`;

/**
 * For a command that does the work of a service. While it holds the lease, no process of the service can start. Returns `false` if
 * the service runs: call it instead, because only it can clear its caches.
 */
export async function acquireForCommand(
  service: string,
  database: Database,
  log: Log,
  closers: Closers,
): Promise<boolean> {
  const leases = createLeases({ db: database.queries<LeaseTables>(), log });
  closers.add('leases', () => leases.close());
  return (await leases.acquireFromDead(leaseOf(service))) !== undefined;
}

async function acquireServiceLease(service: string, leases: Leases, closing: AbortSignal): Promise<ServiceLease> {
  const name = leaseOf(service);
  const first = await leases.acquireFromDead(name);
  if (first === undefined)
    throw new StartFault(
      `REDIS_URL: another process runs ${service} on this database. Without Redis, each service can run in one process only.`,
    );
  const listeners: (() => Promise<void>)[] = [];
  let isHeld = true;

  function watch(lost: AbortSignal): void {
    lost.addEventListener('abort', () => {
      isHeld = false;
      void regain();
    });
  }

  async function regain(): Promise<void> {
    while (!closing.aborted) {
      const lost = await leases.acquire(name).catch(() => undefined);
      if (lost !== undefined) {
        for (const listener of listeners) await listener();
        watch(lost);
        isHeld = !lost.aborted;
        return;
      }
      await sleep(askAgainEveryMs, undefined, { signal: closing, ref: false }).catch(() => undefined);
    }
  }

  watch(first);
  return { isHeld: () => isHeld, onReturn: (listener) => void listeners.push(listener) };
}
