/** Profiles as operators see and write them (docs/specification/memory.md#admin-api). What they write is locked: nothing derived overwrites it. */
import type { Db } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import type { Entity } from '../api.ts';
import { toAdminProfile } from '../profiles/presenting.ts';
import { deleteProfile, findProfile, listProfiles, saveLocked } from '../profiles/store.ts';
import type { MemoryTables } from '../store.ts';
import { type WritingDeps, writeEntity } from '../writing.ts';
import type { AdminProfile, ProfileEdit, ProfileListing, ProfilePage } from './api.ts';
import { cutPage, readCursor } from './cursors.ts';

interface ViewingDeps {
  readonly db: Db<MemoryTables>;
}

/** Throws 404. */
export async function showProfile({ db }: ViewingDeps, entity: Entity): Promise<AdminProfile> {
  const profile = await findProfile(db, entity);
  if (profile === undefined) throw problems.not_found();
  return toAdminProfile(profile);
}

export async function pageOfProfiles({ db }: ViewingDeps, listing: ProfileListing): Promise<ProfilePage> {
  const { limit, q } = listing;
  const before = readCursor('profiles', listing.cursor);
  const rows = await listProfiles(db, { q, before, limit: limit + 1 });
  const { page, nextCursor } = cutPage('profiles', rows, limit);
  return { profiles: page.map(toAdminProfile), next_cursor: nextCursor };
}

/** What is absent stays as it is, `null` takes away; `facts` replaces the locked facts as a whole. */
export async function writeProfile(deps: WritingDeps, entity: Entity, edit: ProfileEdit): Promise<AdminProfile> {
  const { summary, facts, language } = edit;
  return writeEntity(deps, entity, async ({ tx }) => {
    const before = await findProfile(tx, entity);
    const saved = await saveLocked(tx, entity, {
      summary: summary === undefined ? (before?.summary ?? null) : summary,
      language: language === undefined ? (before?.language ?? null) : language,
      facts: facts === undefined ? (before?.facts ?? {}) : (facts ?? {}),
    });
    return toAdminProfile(saved);
  });
}

/** Facts derived from memories come back with the next change of one: who wants them gone deletes the memories. Throws 404. */
export async function removeProfile(deps: WritingDeps, entity: Entity): Promise<void> {
  await writeEntity(deps, entity, async ({ tx }) => {
    if (!(await deleteProfile(tx, entity))) throw problems.not_found();
  });
}
