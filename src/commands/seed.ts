/** `npm run seed`: fills in a small, obviously made-up set of users and feeds; may be repeated. */
import type { Seeded } from '#accounts/api.ts';
import { seed as seedRecords } from '#accounts/seeding.ts';
import { audited, auditOf } from '#platform/audit/audit.ts';
import { onRecords } from './records.ts';

export async function seed(): Promise<number> {
  const { users, feeds } = await onRecords<Seeded>({
    method: 'POST',
    path: '/v1/accounts/seed',
    here: (db) => audited(auditOf(db), { action: 'seed', target: 'accounts' }, () => seedRecords(db)),
  });
  console.log(`There are ${users} made-up users and ${feeds} feeds now; sign in as ada@example.com, for example.`);
  return 0;
}
