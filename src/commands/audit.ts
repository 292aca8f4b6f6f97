/** `npm run audit [-- <count>]`: lists what operators did, newest first, one line each. */
import { auditOf, findActions, type ShownAction } from '#platform/audit/audit.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { onRecords } from './records.ts';
import { usageOf } from './usage.ts';

const mostShown = 10_000;

export async function audit(args: readonly string[]): Promise<number> {
  const count = Number(args[0] ?? 100);
  if (!Number.isInteger(count) || count < 1 || count > mostShown || args.length > 1)
    throw new StartFault(`${usageOf('audit')}. The count must be a whole number from 1 to ${mostShown}.`);
  const { actions } = await onRecords<{ readonly actions: readonly ShownAction[] }>({
    method: 'GET',
    path: `/v1/accounts/actions?limit=${count}`,
    locally: async (db) => findActions(auditOf(db), { limit: count }),
  });
  for (const { at, actor, action, target, outcome, requestId } of actions)
    console.log([at, actor.padEnd(12), action, target, outcome, requestId ?? ''].join('  ').trimEnd());
  return 0;
}
