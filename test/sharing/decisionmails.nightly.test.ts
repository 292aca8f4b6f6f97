/** A decision about a report, by a program that is killed before, between and after its mails: each is sent once. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Asset, UploadReservation } from '#media/api.ts';
import type { Incident, IncidentPage } from '#media/incidents/api.ts';
import {
  type AccountRig,
  limitMs,
  type Moment,
  skipWithoutEngines,
  startAccountRig,
} from '../acceptance/account.fixture.ts';
import type { Person } from '../console/desk.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';

/** Of the decision, its mails, and the bytes that it hides. */
const moments: readonly Moment[] = [
  { table: 'screening_incidents', lock: 'select from screening_incidents for update' },
  { table: 'notify_sends' },
  { table: 'assets' },
];

describe.skipIf(skipWithoutEngines)('the mails of a decision', () => {
  let place: AccountRig;
  beforeAll(async () => {
    place = await startAccountRig();
  }, limitMs);
  afterAll(() => place.close());

  async function publish(owner: Person): Promise<string> {
    const what = { scopeKind: 'feed', scopeId: 'published', kind: 'image', mime: 'image/png' };
    const { body } = await owner.call<UploadReservation>('media', 'POST', '/v1/uploads', what);
    const bytes = new Uint8Array(await makeImage('png'));
    expect((await fetch(body.uploadUrl, { method: 'PUT', headers: body.headers, body: bytes })).status).toBe(200);
    const asset = await owner.call<Asset>('media', 'POST', '/v1/assets', { assetId: body.assetId, ...what });
    expect(asset.status).toBe(201);
    return asset.body.assetId;
  }

  it('reach the owner and each person who reported it once, although the program is killed', async () => {
    const { desk, person } = place;
    const assetId = await publish(person);
    const reporters = [await desk.person(), await desk.person()];
    for (const reporter of reporters) {
      // Its profile has the address.
      expect((await reporter.call('agent', 'GET', '/models')).status).toBe(200);
      const report = { assetId, reason: 'privacy' };
      expect((await reporter.call('media', 'POST', '/v1/reports', report)).status).toBe(201);
    }
    const found = await desk.internal<IncidentPage>('media', 'GET', '/v1/incidents?order=priority');
    const id = found.body.incidents.find((incident) => incident.assetId === assetId)?.id ?? '';
    const decision = { decision: 'restrict', statement: `A private photo, ${randomUUID()}.` };
    const decide = () => desk.internal<Incident>('media', 'POST', `/v1/incidents/${id}/decision`, decision);

    const [first, ...others] = moments;
    // The decision does not outlive the program, and is repeated.
    if (first !== undefined) await place.killAt(first, async () => void decide().then(undefined, () => undefined));
    await place.start();
    await place.ready();
    let isDecided = false;
    for (const moment of others) {
      await place.killAt(moment, async () => {
        if (isDecided) return place.start();
        isDecided = true;
        void decide().then(undefined, () => undefined);
      });
    }
    await place.start();
    await place.ready();
    expect((await decide()).body).toMatchObject({ status: 'upheld', decision });

    const folder = join(place.rig.dataDir, 'outbox');
    const recipients = async () => {
      await place.comeDue();
      const names = (await readdir(folder)).filter((name) => name.endsWith('.eml'));
      const mails = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
      const ours = mails.filter((mail) => mail.replaceAll(/=\r?\n/g, '').includes(decision.statement));
      return ours.map((mail) => /^To: .*?([\w.-]+@[\w.-]+)/m.exec(mail)?.[1] ?? '').toSorted();
    };
    const expected = [person.email, ...reporters.map(({ email }) => email)].toSorted();
    await expect.poll(recipients, { timeout: limitMs }).toEqual(expected);
    const settled = async () => {
      await place.comeDue();
      return place.waitingJobs();
    };
    await expect.poll(settled, { timeout: limitMs }).toEqual([]);
    expect(await recipients()).toEqual(expected);
    expect((await reporters[0]?.call('media', 'GET', `/v1/assets/${assetId}`))?.status).toBe(404);
  }, 600_000);
});
