import { Gauge, type Registry } from '@prometheus-io/client';
import type { Redis } from './redis.ts';

export function measureRedis(registry: Registry, redis: Redis): void {
  new Gauge({
    name: 'redis_writable',
    help: '1: Redis accepts writes. 0: it refuses them or does not respond.',
    registers: [registry],
    collect() {
      this.set(redis.isWritable === true ? 1 : 0);
    },
  });
}
