/** `npm run seed`: inserts a small, obviously invented set of users and feeds. Leaves existing records unchanged. */
import type { Db } from '#platform/db/db.ts';
import type { SeededAccounts } from './api.ts';
import { accountOf, sampleId } from './sampleaccounts.ts';
import * as store from './store.ts';

/** Accounts of the local identity provider, with which you can sign in. */
const users = [
  { email: 'ada@example.com', language: 'en', plan: 'pro', credits: 1000 },
  { email: 'bob@example.com', language: 'de', plan: 'free', credits: 100 },
  { email: 'chen@example.com', language: 'zh_CN', plan: 'max_year', credits: 5000 },
  { email: 'dora@example.com', language: 'fr', plan: 'basic', credits: 0 },
  { email: 'quiet@example.com', language: 'ja', plan: 'free', credits: 100, isOpenNotification: false },
] as const;

export const seededAddresses = users.map(({ email }) => email);

/** Feeds of each kind that sitemaps contain, and of some that they omit. */
const feeds = [
  { name: 'a lighthouse at dusk', by: 'ada@example.com', mediaType: 'image' },
  { name: 'paper boats', by: 'ada@example.com', mediaType: 'video' },
  { name: 'a note without an image', by: 'bob@example.com' },
  { name: 'mountains in ink', by: 'chen@example.com', mediaType: 'image', flag: [] },
  { name: 'rain on a window', by: 'dora@example.com', mediaType: 'audio' },
  { name: 'for adults', by: 'dora@example.com', mediaType: 'image', flag: ['adult'] },
] as const;

export async function seed(db: Db<store.AccountTables>, welcome?: store.Welcome): Promise<SeededAccounts> {
  for (const { email, language, plan, credits, ...settings } of users) {
    const { id } = await store.ensureProfile(db, { ...accountOf(email), plan, credits }, welcome);
    await store.setFirstLanguage(db, id, language);
    if ('isOpenNotification' in settings) await store.setOpenNotification(db, id, settings.isOpenNotification);
  }
  for (const { name, by, ...looks } of feeds)
    await store.putFeed(db, { id: sampleId(`feed: ${name}`), ownerId: accountOf(by).id, ...looks });
  return { users: users.length, feeds: feeds.length };
}
