import { expect, it } from 'vitest';
import type { EventLog } from '../eventlog/eventlog.ts';
import type { Run } from '../runs/runstore.ts';
import { EventLogLost, EventWriter } from './eventwriter.ts';
import type { OwnedRunBuffer } from './runbuffer.ts';

it('names the cause if the log has lost what was appended before', async () => {
  const eventLog = { append: async () => 'vanished' } as unknown as EventLog;
  const buffer = { append: () => undefined, release: () => undefined } as unknown as OwnedRunBuffer;
  const writer = new EventWriter({ eventLog, buffer }, {} as Run);
  await writer.write({ type: 'start' });
  const lost = await writer.finish();
  expect(lost).toBeInstanceOf(EventLogLost);
  expect(lost?.cause).toEqual(new Error('the log lacks what was appended before'));
});
