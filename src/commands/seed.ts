/** `npm run seed`: creates a small, obviously made-up set of users and feeds. It can be repeated. */
import type { SeededAccounts } from '#accounts/api.ts';
import { seededAddresses, seed as seedRecords } from '#accounts/seeding.ts';
import { audited, auditOf } from '#platform/audit/audit.ts';
import { onRecords } from './records.ts';

export async function seed(): Promise<number> {
  const { users, feeds } = await onRecords<SeededAccounts>({
    method: 'POST',
    path: '/v1/accounts/seed',
    locally: (db, _config, welcome) =>
      audited(auditOf(db), { action: 'seed', target: 'accounts' }, () => seedRecords(db, welcome)),
  });
  console.log(`There are now ${users} test users and ${feeds} feeds. The users are ${seededAddresses.join(', ')}.`);
  console.log('The sign-in page lists some of them. For the others, enter the address there.');
  return 0;
}
