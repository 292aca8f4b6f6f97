/** Profiles for operators (docs/specification/memory.md#admin-api). Derived facts do not replace what operators write. */
import { problems } from '#platform/problem.ts';
import type { Entity } from '../api.ts';
import { writeEntity } from '../changes/entitywrite.ts';
import type { MemoryContext } from '../context.ts';
import { toProfile } from '../memories/presenting.ts';
import { deleteProfile, findProfile, listProfiles, type StoredProfile, saveLocked } from '../profiles/profilestore.ts';
import type { AdminProfile, ProfileEdit, ProfileListing, ProfilePage } from './api.ts';
import { cutPage, readCursor } from './viewing.ts';

export function toAdminProfile(row: StoredProfile): AdminProfile {
  return { ...toProfile(row), locked: Object.keys(row.facts), derived: { ...row.derived } };
}

/** Throws 404. */
export async function showProfile({ db }: MemoryContext, entity: Entity): Promise<AdminProfile> {
  const profile = await findProfile(db, entity);
  if (profile === undefined) throw problems.not_found();
  return toAdminProfile(profile);
}

export async function pageOfProfiles({ db }: MemoryContext, listing: ProfileListing): Promise<ProfilePage> {
  const { limit, q } = listing;
  const before = readCursor('profiles', listing.cursor);
  const rows = await listProfiles(db, { q, before, limit: limit + 1 });
  const { page, nextCursor } = cutPage('profiles', rows, limit);
  return { profiles: page.map(toAdminProfile), next_cursor: nextCursor };
}

/** Leaves absent fields unchanged and removes `null` ones. `facts` replaces all locked facts. */
export async function writeProfile(deps: MemoryContext, entity: Entity, edit: ProfileEdit): Promise<AdminProfile> {
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

/** Deletes a profile. The next change of a memory derives its facts again, unless the memories are deleted too. Throws 404. */
export async function removeProfile(deps: MemoryContext, entity: Entity): Promise<void> {
  await writeEntity(deps, entity, async ({ tx }) => {
    if (!(await deleteProfile(tx, entity))) throw problems.not_found();
  });
}
