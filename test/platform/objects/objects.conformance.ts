/**
 * The contract of every object store driver, as one suite (see objects.ts). objects.test.ts runs it on files and on a real S3
 * server.
 */
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeAddresses } from './addresses.conformance.ts';
import type { DriverUnderTest, Rig } from './conformance.fixture.ts';
import { describeKeys } from './keys.conformance.ts';
import { listed } from './objects.fixture.ts';
import { describeReads } from './reads.conformance.ts';
import { describeRemovals } from './removals.conformance.ts';
import { describeResumable } from './resumable.conformance.ts';
import { describeWrites } from './writes.conformance.ts';

export function describeObjects(driver: DriverUnderTest): void {
  describe(`objects: ${driver.name}`, () => {
    let opened: Awaited<ReturnType<DriverUnderTest['open']>> | undefined;
    beforeAll(async () => {
      opened = await driver.open();
    });
    afterAll(() => opened?.close());

    const rig: Rig = {
      get objects() {
        return there(opened).objects;
      },
      get missing() {
        return there(opened).missing;
      },
      supports: driver.supports,
      folder: () => `${randomUUID()}/`,
      read: async (key) => {
        const body = await rig.objects.get(key);
        return body === undefined ? undefined : buffer(body.stream);
      },
      keys: async (prefix) => (await listed(rig.objects, prefix)).map(({ key }) => key),
    };
    describeReads(rig);
    describeWrites(rig);
    describeRemovals(rig);
    describeKeys(rig);
    describeAddresses(rig);
    describeResumable(rig);
  });
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the bucket is not open');
  return value;
}
