import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, type Db, transaction } from '#platform/db/db.ts';
import { setPlanAndCredits } from '../../test/credits.fixture.ts';
import { laneEngines } from '../../test/database.fixture.ts';
import { creditsGrant, type Profile, plans } from './api.ts';
import { grant } from './granting.ts';
import { onboard } from './onboarding.ts';
import {
  type AccountTables,
  beginOnboarding,
  ensureProfile,
  findProfile,
  findProfilesByEmail,
  findRecipient,
  putFeed,
  recordReferral,
  setFirstLanguage,
  setOpenNotification,
  visibleRows,
} from './store.ts';

describe.each(laneEngines)('the shared records on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    let db: Db<AccountTables>;
    beforeAll(async () => {
      database = await engine.open(migrations);
      db = database.queries<AccountTables>();
    });
    afterAll(() => database.close());
    const newUser = async (email?: string) => ensureProfile(db, { id: randomUUID(), email });

    describe('a profile', () => {
      it('is free with 100 credits on first need, and the same ever after', async () => {
        const made = await newUser('Ada@Example.com');
        expect(made).toMatchObject({ email: 'Ada@Example.com', language: null, plan: 'free', credits: 100 });
        expect(await ensureProfile(db, { id: made.id })).toEqual(made);
        expect(await findProfile(db, made.id)).toEqual(made);
        expect(await findProfile(db, randomUUID())).toBeUndefined();
      });

      it('applies a plan and credits only when it is created', async () => {
        const id = randomUUID();
        expect(await ensureProfile(db, { id, plan: 'pro', credits: 1000 })).toMatchObject({
          plan: 'pro',
          credits: 1000,
        });
        expect(await ensureProfile(db, { id, email: 'x@example.com', plan: 'max', credits: 1 })).toMatchObject({
          plan: 'pro',
          credits: 1000,
          email: 'x@example.com',
        });
      });

      it('retains its email address until another one is given', async () => {
        const { id } = await newUser('before@example.com');
        expect((await ensureProfile(db, { id })).email).toBe('before@example.com');
        expect((await ensureProfile(db, { id, email: 'after@example.com' })).email).toBe('after@example.com');
      });

      it('begins with the credits of a welcome, once', async () => {
        const published: string[] = [];
        const welcome = { credits: 7, publish: async (_tx: unknown, { id }: Profile) => void published.push(id) };
        const id = randomUUID();
        for (const later of [welcome, { ...welcome, credits: 9 }])
          expect((await ensureProfile(db, { id }, later)).credits).toBe(7);
        expect(published).toEqual([id]);
      });

      it('is created once for concurrent first uses', async () => {
        const id = randomUUID();
        const made = await Promise.all(Array.from({ length: 20 }, () => ensureProfile(db, { id })));
        expect(new Set(made.map(({ createdAt }) => createdAt.getTime())).size).toBe(1);
      });

      it('is found by its address, in any case', async () => {
        const name = randomUUID();
        const first = await newUser(`${name}@example.com`);
        const second = await newUser(`${name.toUpperCase()}@EXAMPLE.com`);
        const found = await findProfilesByEmail(db, ` ${name}@Example.COM `);
        expect(found.map(({ id }) => id)).toEqual([first.id, second.id]);
        expect(await findProfilesByEmail(db, `%@example.com`)).toEqual([]);
      });

      it.each(plans)('can have the plan %s', async (plan) => {
        const { id } = await newUser();
        expect(await setPlanAndCredits(db, id, plan, 7)).toMatchObject({ id, plan, credits: 7 });
      });

      it('is made by setting its plan', async () => {
        const id = randomUUID();
        await setPlanAndCredits(db, id, 'max', 0);
        expect(await findProfile(db, id)).toMatchObject({ plan: 'max', credits: 0, email: null });
      });

      it('never has less than no credits', async () => {
        await expect(setPlanAndCredits(db, randomUUID(), 'pro', -1)).rejects.toThrow();
      });
    });

    describe('a grant', () => {
      it.each(['ada@bücher.example', 'r&d@example.com'])('finds the user of %s', async (email) => {
        const { id } = await newUser(email);
        const request = creditsGrant.parse({ user: email.toUpperCase(), plan: 'pro', credits: 7 });
        const granted = await grant({ db: database.queries(), hasMadeUpAccounts: false }, 'root', request);
        expect(granted).toEqual({ id, email, plan: 'pro', credits: 7 });
      });

      it.each(['nobody', 'nobody@', '@example.com', 'a b@example.com', 'a@\0'])('rejects %j', (user) => {
        expect(creditsGrant.safeParse({ user, plan: 'pro', credits: 7 }).success).toBe(false);
      });
    });

    describe('settings', () => {
      it.each([
        [undefined, true],
        [true, true],
        [false, false],
      ])('%s: open to mail is %s', async (setting, expected) => {
        const { id } = await newUser('mail@example.com');
        if (setting !== undefined) await setOpenNotification(db, id, setting);
        expect(await findRecipient(db, id)).toEqual({
          id,
          email: 'mail@example.com',
          language: null,
          plan: 'free',
          isOpenNotification: expected,
        });
      });

      it('can be changed, and are missing for an unknown user', async () => {
        const id = randomUUID();
        await setOpenNotification(db, id, false);
        expect(await findRecipient(db, id)).toBeUndefined();
        await ensureProfile(db, { id });
        await setOpenNotification(db, id, true);
        expect((await findRecipient(db, id))?.isOpenNotification).toBe(true);
      });
    });

    describe('a referral', () => {
      it('is stored once per invited user, if the inviter exists and is another user', async () => {
        const [inviter, other, invitee] = [await newUser(), await newUser(), await newUser()];
        expect(await recordReferral(db, randomUUID(), invitee.id)).toBe(false);
        expect(await recordReferral(db, invitee.id, invitee.id)).toBe(false);
        expect(await recordReferral(db, inviter.id, invitee.id)).toBe(true);
        expect(await recordReferral(db, inviter.id, invitee.id)).toBe(false);
        expect(await recordReferral(db, other.id, invitee.id)).toBe(false);
        expect(await db.selectFrom('referrals').selectAll().where('invitee_id', '=', invitee.id).execute()).toEqual([
          { inviter_id: inviter.id, invitee_id: invitee.id, created_at: expect.any(Date) },
        ]);
      });
    });

    describe('onboarding', () => {
      const language = 'de';
      it('sets the language and the referral the first time, and never again', async () => {
        const [inviter, later] = [await newUser(), await newUser()];
        const id = randomUUID();
        const first = { id, email: 'new@example.com', language, invite: inviter.id.toUpperCase() };
        expect(await onboard(db, first)).toEqual({ isReferred: true });
        expect(await onboard(db, first)).toEqual({ isReferred: false });
        expect(await onboard(db, { id, email: 'moved@example.com', language: 'fr', invite: later.id })).toEqual({
          isReferred: false,
        });
        expect(await findProfile(db, id)).toMatchObject({ language, email: 'moved@example.com', credits: 100 });
      });

      it('leaves no second chance for an invite', async () => {
        const [inviter, id] = [await newUser(), randomUUID()];
        await onboard(db, { id, language });
        expect(await onboard(db, { id, language, invite: inviter.id })).toEqual({ isReferred: false });
      });

      it('leaves a language that is known', async () => {
        const { id } = await newUser();
        expect(await setFirstLanguage(db, id, 'ja')).toBe(true);
        await onboard(db, { id, language });
        expect((await findProfile(db, id))?.language).toBe('ja');
      });

      it.each(['', 'me', '0', "'; drop table referrals", `${randomUUID()}x`, randomUUID()])(
        'completes with the invite %j, which names no user',
        async (invite) => {
          const id = randomUUID();
          expect(await onboard(db, { id, language, invite })).toEqual({ isReferred: false });
          expect((await findProfile(db, id))?.language).toBe(language);
        },
      );

      it('detects self-invitations regardless of case', async () => {
        const id = randomUUID();
        expect(await onboard(db, { id, language, invite: id.toUpperCase() })).toEqual({ isReferred: false });
      });

      it('happens once if it is requested concurrently', async () => {
        const [inviter, id] = [await newUser(), randomUUID()];
        const all = await Promise.all(
          Array.from({ length: 12 }, () => onboard(db, { id, language, invite: inviter.id })),
        );
        expect(all.filter(({ isReferred }) => isReferred)).toHaveLength(1);
      });

      it('is undone when its transaction is: the next sign-in is the first', async () => {
        const [inviter, id] = [await newUser(), randomUUID()];
        await expect(
          transaction(db, async (tx) => {
            await ensureProfile(tx, { id });
            expect(await beginOnboarding(tx, id)).toBe(true);
            throw new Error('the process dies');
          }),
        ).rejects.toThrow('the process dies');
        expect(await findProfile(db, id)).toBeUndefined();
        expect(await onboard(db, { id, language, invite: inviter.id })).toEqual({ isReferred: true });
      });
    });

    describe('lists for a sitemap', () => {
      it('give users and visible feeds, oldest first, page by page', async () => {
        const owner = await newUser();
        const shown: string[] = [];
        for (const [mediaType, flag, isShown] of [
          [undefined, undefined, true],
          ['image', [], true],
          ['video', undefined, true],
          ['audio', undefined, false],
          ['', undefined, false],
          ['image', ['adult'], false],
          [undefined, ['a', 'b'], false],
        ] as const) {
          const id = randomUUID();
          await putFeed(db, { id, ownerId: owner.id, mediaType, flag });
          if (isShown) shown.push(id);
          // The clock of an embedded database counts milliseconds.
          await sleep(2);
        }
        const ids = async (page: { limit: number; after?: string }) =>
          (await visibleRows(db, 'feeds').list(page)).map(({ id }) => id);
        expect(await ids({ limit: 10_000 })).toEqual(shown);
        expect(await ids({ limit: 1 })).toEqual(shown.slice(0, 1));
        expect(await ids({ limit: 5, after: shown[0] ?? '' })).toEqual(shown.slice(1));
        expect(await ids({ limit: 5, after: randomUUID() })).toEqual([]);
        const users = await visibleRows(db, 'user_profiles').list({ limit: 10_000 });
        expect(users.find(({ id }) => id === owner.id)).toEqual({ id: owner.id, updatedAt: owner.updatedAt });
        const last = users.at(-2)?.id ?? '';
        expect(await visibleRows(db, 'user_profiles').list({ limit: 10, after: last })).toEqual(users.slice(-1));
      });
    });
  });
});
